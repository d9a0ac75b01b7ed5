//! A step that fails ends the run with an error, and everything is as it was.

use super::cases::{Case, for_each_case};
use super::world::World;

/// Makes each step fail once.
fn failing_step_leaves_everything_as_it_was(case: &'static Case) {
    let world = World::new(case);
    let mut refused = 0;
    for (n, step) in (1..).zip(&world.steps) {
        let what = format!("step {n} fails, {step}");
        world.reset();
        let run = world.run(&format!("fail@{n}"));
        assert!([0, 1].contains(&run.code), "{}, {what}: {run:?}", case.name);
        world.assert_whole(&what);
        if run.code == 1 {
            refused += 1;
            assert!(run.tells("os error 5"), "{what}: {run:?}");
            assert!(!world.assert_settled(&what), "{what}: an error, but done");
        } else {
            // A step that is not needed, or has another way.
            world.clean_up(&what);
            assert!(
                world.assert_settled(&what),
                "{what}: no error, but not done"
            );
        }
        if n % 3 == 0 {
            world.assert_goes_on(run.code == 0, &what);
        }
    }
    eprintln!(
        "{}: {refused} of {} steps failed with an error; all was as before",
        case.name,
        world.steps.len()
    );
}

/// Makes everything fail from some step on.
fn dying_disk_is_repaired_by_the_next_run(case: &'static Case) {
    let world = World::new(case);
    for (n, step) in (1..).zip(&world.steps) {
        let what = format!("all fails from step {n} on, {step}");
        world.reset();
        let run = world.run(&format!("dead@{n}"));
        assert!([0, 1].contains(&run.code), "{}, {what}: {run:?}", case.name);
        world.assert_whole(&what);
        world.clean_up(&what);
        let done = world.assert_settled(&what);
        assert!(done || run.code == 1, "{what}: no error, but not done");
        if n % 3 == 0 {
            world.assert_goes_on(done, &what);
        }
    }
}

mod failing_step {
    super::for_each_case!(super::failing_step_leaves_everything_as_it_was);
}
mod dying_disk {
    super::for_each_case!(super::dying_disk_is_repaired_by_the_next_run);
}

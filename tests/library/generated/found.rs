//! Sessions and operations on which the library once failed, as small as they could be made.

use super::library;
use super::operation::{Choice, Operation};
use super::recipe::{Answer, Call, End, Kept, Links, Output, Prompt, Recipe, Step, Thinking};
use super::writer;

/// An answer that makes these calls, or one with words if there are none.
fn answer(calls: &[(usize, Output)]) -> Answer {
    let calls = calls.iter().map(|&(tool, output)| Call { tool, output });
    Answer {
        thinking: Thinking::None,
        text: false,
        calls: calls.collect(),
        logged: false,
        names_result: false,
        disturbed: false,
    }
}

fn disturbed(calls: &[(usize, Output)]) -> Step {
    Step::Answer(Answer {
        disturbed: true,
        ..answer(calls)
    })
}

fn called(calls: &[(usize, Output)]) -> Step {
    Step::Answer(answer(calls))
}

fn answered() -> Step {
    called(&[])
}

fn session(links: Links, steps: Vec<Step>) -> Recipe {
    Recipe {
        version: "2.1.325",
        links,
        split: true,
        steps,
        end: End::Answered,
    }
}

fn assert_kept(recipe: &Recipe, operations: &[Operation]) {
    let verdict = library::sequence(&writer::write(recipe), operations);
    assert_eq!(verdict, Ok(()), "{recipe:?}\n{operations:?}");
}

#[test]
fn drop_tools_edits_both_lines_of_a_queued_prompt_that_was_written_twice() {
    let steps = vec![called(&[(1, Output::Short)]), Step::Queued, Step::Duplicate];
    let recipe = session(Links::OwnCall, steps);
    assert_kept(
        &recipe,
        &[Operation::DropTools(Choice::All), Operation::Repair],
    );
    let text = writer::write(&recipe);
    let before = super::conversation::Conversation::new(&text);
    let result = library::operation(&text, &before, &Operation::DropTools(Choice::All));
    let result = result.expect("a result");
    let queued: Vec<&str> = result
        .lines()
        .filter(|l| l.contains("queued-") && l.contains("\"uuid\""))
        .collect();
    assert_eq!(queued.len(), 2, "{result}");
    assert_eq!(queued[0], queued[1]);
}

#[test]
fn drop_hidden_after_graft_keeps_a_prompt_that_was_written_twice() {
    let steps = vec![
        answered(),
        Step::Prompt(Prompt::Words),
        Step::Duplicate,
        answered(),
    ];
    let graft = Operation::Graft {
        number: 1234,
        at: Some(1),
    };
    let hidden = Operation::DropHidden { keep_last: None };
    assert_kept(&session(Links::OwnCall, steps), &[graft, hidden]);
}

#[test]
fn extract_makes_the_leaf_newest_if_newer_entries_that_followed_it_are_removed() {
    let steps = vec![
        called(&[(2, Output::Short)]),
        Step::ClockBack,
        answered(),
        answered(),
    ];
    let recipe = Recipe {
        end: End::Rewound,
        ..session(Links::OwnCall, steps)
    };
    assert_kept(&recipe, &[Operation::Extract(1, 1)]);
    assert_kept(&recipe, &[Operation::DropHidden { keep_last: None }]);
}

#[test]
fn truncate_among_preserved_messages_keeps_all_parallel_calls() {
    let steps = vec![
        answered(),
        called(&[(3, Output::Short), (1, Output::Short)]),
        Step::Queued,
        Step::Compact(Kept::LastTurn),
        Step::Compact(Kept::LastTurn),
    ];
    let recipe = session(Links::OwnCallReversed, steps);
    assert_kept(&recipe, &[Operation::Truncate(2)]);
}

#[test]
fn uncompact_shows_a_call_beside_a_deleted_one_that_was_preserved() {
    let steps = vec![
        Step::Prompt(Prompt::Words),
        Step::Compact(Kept::LastTurn),
        called(&[(2, Output::Short), (0, Output::Short)]),
        Step::Compact(Kept::LastTurn),
    ];
    let recipe = session(Links::OwnCallReversed, steps);
    assert_kept(&recipe, &[Operation::DeleteTool(2), Operation::Uncompact]);
}

#[test]
fn graft_after_a_turn_whose_results_came_after_the_next_prompt_follows_them() {
    let steps = vec![
        answered(),
        Step::Prompt(Prompt::Words),
        disturbed(&[(0, Output::Short)]),
    ];
    let graft = Operation::Graft {
        number: 1234,
        at: Some(2),
    };
    let recipe = session(Links::OwnCall, steps);
    assert_kept(&recipe, &[graft, Operation::CloneAt(2)]);
}

#[test]
fn extract_of_a_prompt_that_arrived_before_the_last_results_keeps_what_follows_these() {
    let steps = vec![
        answered(),
        disturbed(&[(0, Output::Short)]),
        Step::Notification,
    ];
    let recipe = Recipe {
        end: End::Open,
        ..session(Links::OwnCall, steps)
    };
    assert_kept(&recipe, &[Operation::Extract(3, 3)]);
    assert_kept(&recipe, &[Operation::Extract(2, 2)]);
    assert_kept(&recipe, &[Operation::Extract(2, 3)]);
}

#[test]
fn graft_refuses_a_turn_whose_last_results_wait_for_the_model() {
    let steps = vec![answered(), disturbed(&[(2, Output::Short)])];
    let graft = Operation::Graft {
        number: 1234,
        at: Some(2),
    };
    let recipe = Recipe {
        end: End::Open,
        ..session(Links::OwnCall, steps)
    };
    assert_kept(&recipe, &[graft]);
}

#[test]
fn drop_hidden_after_compact_settles_if_the_first_kept_line_was_written_twice() {
    let steps = vec![
        called(&[(3, Output::Short)]),
        Step::Queued,
        Step::Duplicate,
        answered(),
        answered(),
    ];
    let compact = |drop_history| Operation::Compact {
        keep_last: 2,
        drop_history,
    };
    let hidden = Operation::DropHidden { keep_last: None };
    let recipe = session(Links::OwnCall, steps);
    assert_kept(&recipe, &[compact(false), hidden.clone()]);
    assert_kept(&recipe, &[compact(true), hidden]);
}

/// Compacts the first steps of the only turn, whose prompt is removed with them.
const COMPACT_IN_TURN: Operation = Operation::CompactInTurn {
    number: 2,
    drop_history: true,
};

#[test]
fn drop_tools_spares_an_unfinished_turn_whose_prompt_is_gone() {
    let recipe = Recipe {
        end: End::Open,
        ..session(Links::OwnCall, vec![called(&[(0, Output::Short)]); 4])
    };
    let drop = Operation::DropTools(Choice::All);
    assert_kept(&recipe, &[COMPACT_IN_TURN, drop]);
    let strip = Operation::StripThinking { keep_last: None };
    let text = Recipe {
        steps: vec![
            Step::Answer(Answer {
                thinking: Thinking::Readable,
                ..answer(&[(0, Output::Short)])
            });
            4
        ],
        ..recipe
    };
    assert_kept(&text, &[COMPACT_IN_TURN, strip]);
}

#[test]
fn graft_refuses_to_follow_an_unfinished_turn_whose_prompt_is_gone() {
    let mut steps = vec![called(&[(3, Output::Short)]); 3];
    steps.push(called(&[(1, Output::Short), (3, Output::Missing)]));
    let graft = Operation::Graft {
        number: 1234,
        at: None,
    };
    let recipe = session(Links::Chained, steps);
    assert_kept(&recipe, &[COMPACT_IN_TURN, graft]);
}

#[test]
fn drop_tools_of_a_killed_call_makes_its_prompt_the_newest_entry() {
    let killed = called(&[(3, Output::Missing)]);
    let recipe = Recipe {
        version: "2.0.76",
        ..session(Links::Chained, vec![answered(), Step::ClockBack, killed])
    };
    assert_kept(&recipe, &[Operation::DropTools(Choice::Number(0))]);
}

#[test]
fn drop_tools_links_results_in_their_order_after_words_that_stood_beside_one() {
    let steps = vec![called(&[
        (2, Output::WithWords),
        (0, Output::Short),
        (0, Output::Short),
    ])];
    let recipe = Recipe {
        version: "2.0.76",
        ..session(Links::Chained, steps)
    };
    let operations = [Choice::Tool(2), Choice::Number(1)].map(Operation::DropTools);
    assert_kept(&recipe, &operations);
}

#[test]
fn drop_tools_drops_a_call_whose_result_was_written_twice_and_arrived_after_a_prompt() {
    let steps = vec![disturbed(&[(0, Output::Short)]), Step::Duplicate];
    let drop = Operation::DropTools(Choice::KeepLast(1));
    assert_kept(&session(Links::OwnCall, steps), &[drop]);
}

#[test]
fn truncate_removes_the_record_of_a_place_that_was_left_when_a_branch_was_restored() {
    let recipe = Recipe {
        end: End::Rewound,
        ..session(Links::OwnCall, vec![answered(), answered()])
    };
    let graft = Operation::Graft {
        number: 1234,
        at: Some(1),
    };
    let operations = [Operation::RestoreBranch(0), graft, Operation::Truncate(2)];
    assert_kept(&recipe, &operations);
}

#[test]
fn clone_at_a_turn_removes_the_record_of_a_place_that_was_left_when_a_branch_was_restored() {
    let steps = vec![answered(), disturbed(&[(2, Output::Short)]), Step::Queued];
    let recipe = Recipe {
        end: End::Rewound,
        ..session(Links::OwnCall, steps)
    };
    let compact = Operation::Compact {
        keep_last: 1,
        drop_history: true,
    };
    let operations = [
        compact,
        Operation::DropTools(Choice::Number(0)),
        Operation::RestoreBranch(2),
        Operation::CloneAt(3),
    ];
    assert_kept(&recipe, &operations);
}

#[test]
fn uncompact_shows_all_words_that_stood_beside_deleted_results_which_were_preserved() {
    let steps = vec![
        answered(),
        called(&[(0, Output::WithWords), (0, Output::WithWords)]),
        Step::Compact(Kept::LastTurn),
    ];
    let recipe = session(Links::OwnCall, steps);
    for delete in [Operation::DeleteMessage(1), Operation::DeleteTool(0)] {
        assert_kept(&recipe, &[delete, Operation::Uncompact]);
    }
    let steps = vec![
        answered(),
        called(&[
            (0, Output::WithWords),
            (1, Output::Short),
            (2, Output::WithWords),
        ]),
        Step::Compact(Kept::LastTurn),
    ];
    let recipe = session(Links::OwnCall, steps);
    for tool in 0..3 {
        assert_kept(
            &recipe,
            &[Operation::DeleteTool(tool), Operation::Uncompact],
        );
    }
}

#[test]
fn truncate_before_a_compaction_keeps_results_that_a_prompt_arrived_before() {
    let steps = vec![
        disturbed(&[(3, Output::Short)]),
        answered(),
        answered(),
        answered(),
    ];
    let recipe = session(Links::OwnCall, steps);
    let compact = Operation::Compact {
        keep_last: 2,
        drop_history: false,
    };
    let operations = [
        Operation::DeleteMessage(2),
        compact.clone(),
        Operation::Truncate(1),
    ];
    assert_kept(&recipe, &operations);
    assert_kept(
        &recipe,
        &[Operation::DeleteMessage(2), compact, Operation::Uncompact],
    );
}

#[test]
fn edit_of_an_answer_that_was_written_twice_changes_both_lines() {
    let thinking = Step::Answer(Answer {
        thinking: Thinking::Readable,
        ..answer(&[])
    });
    let recipe = Recipe {
        version: "2.0.76",
        split: false,
        ..session(Links::Chained, vec![answered(), thinking, Step::Duplicate])
    };
    assert_kept(&recipe, &[Operation::Edit(3)]);
}

#[test]
fn extract_puts_a_note_before_an_answer_if_only_a_queued_prompt_comes_before_it() {
    let steps = vec![Step::Prompt(Prompt::Command), Step::Queued];
    let recipe = session(Links::Chained, steps);
    let operations = [
        Operation::DeleteMatch(0),
        Operation::DeleteTurns(2, 4),
        Operation::Extract(1, 1),
    ];
    assert_kept(&recipe, &operations);
}

#[test]
fn delete_of_a_turn_keeps_the_prompt_that_arrived_in_it_when_a_person_went_back_to_there() {
    let words = Step::Prompt(Prompt::Words);
    let steps = vec![
        answered(),
        words.clone(),
        disturbed(&[(3, Output::Short)]),
        words,
    ];
    let recipe = Recipe {
        end: End::Rewound,
        ..session(Links::OwnCall, steps)
    };
    assert_kept(&recipe, &[Operation::DeleteTurns(2, 2)]);

    let steps = vec![
        answered(),
        disturbed(&[(3, Output::Short), (1, Output::Short)]),
        Step::Prompt(Prompt::Words),
    ];
    let recipe = Recipe {
        end: End::Rewound,
        ..session(Links::OwnCall, steps)
    };
    for number in 0..2 {
        let drop = Operation::DropTools(Choice::Number(number));
        assert_kept(&recipe, &[drop]);
    }
}

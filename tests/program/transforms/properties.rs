//! What must hold for any session.

use ccsurgery::ops::{Compact, DropTools, StripThinking};
use proptest::prelude::*;
use proptest::test_runner::{RngSeed, TestCaseError};

use super::generate::{TOOLS, faulty, sound};
use super::judge::{self, Verdict, session};

fn broken(bytes: &[u8], verdict: Verdict) -> Result<(), TestCaseError> {
    verdict.map_err(|words| {
        TestCaseError::fail(format!("{words}\n---\n{}", String::from_utf8_lossy(bytes)))
    })
}

fn config() -> ProptestConfig {
    let asked = std::env::var_os("PROPTEST_CASES").is_some();
    let default = ProptestConfig::default();
    ProptestConfig {
        cases: if asked { default.cases } else { 96 },
        failure_persistence: None,
        // The same sessions every time, unless others are asked for.
        rng_seed: if asked {
            default.rng_seed
        } else {
            RngSeed::Fixed(0x5e55_1000)
        },
        max_shrink_iters: 4000,
        ..default
    }
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn strip_thinking_removes_thinking_alone(sketch in prop_oneof![3 => sound().boxed(), 1 => faulty().boxed()], keep_last in proptest::option::of(0u32..4)) {
        let bytes = sketch.bytes();
        let options = StripThinking { keep_last, ..StripThinking::default() };
        broken(&bytes, judge::strip_thinking(&session(&bytes), &options))?;
    }

    #[test]
    fn drop_tools_removes_pairs_alone(sketch in prop_oneof![3 => sound().boxed(), 1 => faulty().boxed()], tool in proptest::option::of(0usize..4)) {
        let bytes = sketch.bytes();
        let tool = tool.map(|t| TOOLS[t].to_owned()).into_iter().collect();
        broken(&bytes, judge::drop_tools(&session(&bytes), &DropTools { tool, ..DropTools::default() }))?;
    }

    #[test]
    fn drop_tools_removes_the_named_call_alone(sketch in prop_oneof![3 => sound().boxed(), 1 => faulty().boxed()], n in 1usize..8) {
        let bytes = sketch.bytes();
        let session = session(&bytes);
        let count = session.calls().iter().filter(|c| !c.uses.is_empty()).count();
        prop_assume!(count > 0);
        let id = vec![format!("toolu_{:03}", (n - 1) % count + 1)];
        broken(&bytes, judge::drop_tools(&session, &DropTools { id, ..DropTools::default() }))?;
    }

    #[test]
    fn stubs_replace_outputs_alone(sketch in prop_oneof![3 => sound().boxed(), 1 => faulty().boxed()], tool in proptest::option::of(0usize..4), head in 0usize..3, tail in 0usize..3) {
        let bytes = sketch.bytes();
        let tool = tool.map(|t| TOOLS[t].to_owned()).into_iter().collect();
        let options = DropTools { tool, stub: true, head, tail, ..DropTools::default() };
        broken(&bytes, judge::stub(&session(&bytes), &options))?;
    }

    #[test]
    fn truncate_shows_what_was_shown_then(sketch in prop_oneof![3 => sound().boxed(), 1 => faulty().boxed()], at in 0usize..6) {
        let bytes = sketch.bytes();
        let session = session(&bytes);
        prop_assume!(!session.turns().is_empty());
        let at = (at % session.turns().len()) as u32 + 1;
        broken(&bytes, judge::truncate(&session, at))?;
    }

    #[test]
    fn compact_shows_the_summary_and_the_rest(sketch in prop_oneof![3 => sound().boxed(), 1 => faulty().boxed()], keep in 0u32..5, own in any::<bool>(), drop_history in any::<bool>()) {
        let bytes = sketch.bytes();
        let summary = own.then(|| "in short".to_owned());
        let options = Compact { keep_last: Some(keep), summary, drop_history, ..Compact::default() };
        broken(&bytes, judge::compact(&session(&bytes), &options))?;
    }
}

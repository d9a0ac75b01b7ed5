use super::*;
use crate::document::Document;
use crate::transcript::EntryIx;
use std::fmt::Write as _;

fn session(windows: &[(usize, u64)]) -> Session {
    let mut out = String::new();
    let mut parent = "null".to_owned();
    for (i, &(bytes, tokens)) in windows.iter().enumerate() {
        let words = "x".repeat(bytes);
        let _ = writeln!(
            out,
            "{{\"type\":\"user\",\"uuid\":\"u{i}\",\"parentUuid\":{parent},\"message\":{{\"content\":\"{words}\"}}}}"
        );
        for part in 0..2 {
            let above = if part == 0 {
                format!("u{i}")
            } else {
                format!("a{i}0")
            };
            let _ = writeln!(
                out,
                "{{\"type\":\"assistant\",\"uuid\":\"a{i}{part}\",\"parentUuid\":\"{above}\",\"message\":{{\"id\":\"m{i}\",\"usage\":{{\"input_tokens\":{tokens},\"output_tokens\":9}},\"content\":[]}}}}"
            );
        }
        parent = format!("\"a{i}1\"");
    }
    Session::new(Document::from_bytes(out))
}

#[test]
fn calibration_measures_the_session_itself() {
    let c = Calibration::of(&session(&[(4_000, 2_000), (4_000, 3_000), (8_000, 5_000)]));
    assert!(c.measured && c.records == 3, "{c:?}");
    assert!(
        (c.bytes_per_token - 4.0).abs() < 0.02 && (c.constant - 1_000.0).abs() < 10.0,
        "{c:?}"
    );
    assert!(c.error().unwrap().abs() < 0.01);
}

#[test]
fn calibration_counts_the_lines_of_a_message_once_and_rejects_absurd_fits() {
    let c = Calibration::of(&session(&[(100, 500), (100, 400), (100, 300)]));
    assert!(!c.measured);
    assert_eq!((c.records, c.recorded, c.window()), (3, Some(300), 300));
}

#[test]
fn calibration_ignores_records_of_removed_content() {
    // 400 kB were removed between the second request and the third, and the last record was lowered.
    let c = Calibration::of(&session(&[
        (3_996, 2_000),
        (3_994, 3_000),
        (3_994, 104_000),
        (7_994, 106_000),
        (3_994, 7_000),
    ]));
    assert!(
        c.measured && (c.bytes_per_token - 4.0).abs() < 0.02,
        "{c:?}"
    );
    assert!((c.constant - 1_000.0).abs() < 10.0, "{c:?}");
    assert_eq!((c.window(), c.estimated), (7_000, None));
}

#[test]
fn calibration_estimates_everything_without_a_record() {
    let c = Calibration::of(&session(&[(3_560, 0)]));
    assert_eq!((c.recorded, c.error()), (None, None));
    assert_eq!(c.window(), 1_000);
}

#[test]
fn calibration_keeps_the_constant_part_where_the_client_cleared_results() {
    // The client cleared most of what was shown before the fourth request, without a boundary.
    let cleared = [
        (4_000, 21_000),
        (80_000, 41_000),
        (200_000, 91_000),
        (4_000, 40_000),
        (4_000, 41_000),
        (4_000, 42_000),
    ];
    let c = Calibration::of(&session(&cleared));
    assert!((c.constant - 20_000.0).abs() < 200.0, "{c:?}");
    // Almost everything is removed: the constant part stays.
    let result = Calibration::of(&session(&[(4_000, 0)]));
    let window = c.window_of(&result);
    assert!((20_000..22_000).contains(&window), "{window}");
}

#[test]
fn calibration_uses_records_before_a_compaction() {
    let before = session(&[(4_000, 21_000), (8_000, 23_000), (40_000, 33_000)]);
    let boundary = r#"{"type":"system","subtype":"compact_boundary","uuid":"B","parentUuid":null,"logicalParentUuid":"a21"}"#;
    let summary = format!(
        r#"{{"type":"user","uuid":"S","parentUuid":"B","isCompactSummary":true,"message":{{"content":"{}"}}}}"#,
        "x".repeat(4_000)
    );
    let mut text = before.document().to_vec();
    text.extend_from_slice(format!("{boundary}\n{summary}\n").as_bytes());
    let after = Calibration::of(&Session::new(Document::from_bytes(text)));
    assert!((after.constant - 20_000.0).abs() < 100.0, "{after:?}");
    let window = after.window();
    assert!((20_900..21_100).contains(&window), "{window}");
    let foreseen = Calibration::of(&before).window_of(&after);
    assert!(foreseen.abs_diff(window) <= 1, "{foreseen}");
}

#[test]
fn calibration_ignores_thinking_of_earlier_turns_where_the_model_drops_it() {
    let session = |model: &str| {
        let line = |n: u32, parent: &str| {
            format!(
                r#"{{"type":"user","uuid":"u{n}","parentUuid":{parent},"message":{{"content":"go"}}}}
{{"type":"assistant","uuid":"a{n}","parentUuid":"u{n}","message":{{"id":"m{n}","model":"{model}","content":[{{"type":"thinking","thinking":"","signature":"{}"}}]}}}}
"#,
                "s".repeat(10_000)
            )
        };
        let text = [line(1, "null"), line(2, "\"a1\"")].concat();
        Session::new(Document::from_bytes(text))
    };
    let (dropping, keeping) = (
        session("claude-sonnet-4-5-20250929"),
        session("claude-opus-4-6"),
    );
    let windows = [&dropping, &keeping].map(|s| Calibration::of(s).window());
    assert!(
        (2_000..2_100).contains(&windows[0]) && (4_000..4_100).contains(&windows[1]),
        "{windows:?}"
    );
    let weights = EntryWeights::of(&dropping);
    let thinking = [1, 3].map(|i| weights.shown(&dropping, EntryIx::new(i)).thinking);
    assert_eq!(thinking.map(|t| t as u64), [0, 2_000]);
}

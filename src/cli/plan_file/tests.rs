use super::*;

/// The message about a plan that has a mistake.
fn refused(plan: &str) -> String {
    match parse("plan", plan) {
        Err(error) => error.message,
        Ok(_) => panic!("accepted: {plan}"),
    }
}

#[test]
fn plan_has_the_rules_of_the_command_line() {
    let step = |op: &str, options: &str| refused(&format!("[[step]]\nop = \"{op}\"\n{options}"));
    let message = step("drop-tools", "head = 5\ntail = 5\n");
    assert_eq!(message, "plan, line 1: drop-tools needs `stub` too");
    let message = step(
        "compact",
        "keep-last = 1\nsummary = \"x\"\nsummarizer = \"y\"\n",
    );
    assert!(message.contains("cannot be used with"), "{message}");
    let message = step("compact", "keep-last = 1\nat = 2\n");
    assert!(message.contains("cannot be used with"), "{message}");
    let message = step("compact", "");
    assert_eq!(
        message,
        "plan, line 1: compact needs `at`, `keep-last`, `keep-tokens` or `before` too"
    );
    let message = step("truncate", "");
    assert_eq!(message, "plan, line 1: truncate needs `at` too");
}

#[test]
fn plan_reports_wrong_types_at_the_option() {
    let step = |options: &str| refused(&format!("[[step]]\nop = \"drop-tools\"\n{options}"));
    assert_eq!(
        step("stub = true\nkeep-last = \"3\"\n"),
        "plan, line 4: `keep-last` must be a whole number from 0, not text"
    );
    assert_eq!(
        step("stub = 1\n"),
        "plan, line 3: `stub` must be true or false, not 1"
    );
    assert_eq!(
        step("turns = true\n"),
        "plan, line 3: `turns` must be a whole number or text, not true"
    );
    assert_eq!(
        step("tool = [\"Bash\", 5]\n"),
        "plan, line 3: `tool` must be text, or a list of them, not 5"
    );
    assert_eq!(
        step("keep-last = -1\n"),
        "plan, line 3: `keep-last` must be a whole number from 0, not -1"
    );
    assert!(
        step("keep = 1\n")
            .starts_with("plan, line 3: drop-tools has no option `keep`; it has tool, id,")
    );
}

#[test]
fn plan_accepts_what_the_command_line_accepts() {
    let plan = "[[step]]\nop = \"strip-thinking\"\nturns = \"-3..\"\nsubagents = true\n\n[[step]]\nop = \"drop-tools\"\ntool = \"Bash\"\nid = [\"-x\"]\nstub = true\nerrors = false\nhead = 2\n\n[[step]]\nop = \"truncate\"\nat = -1\n\n[[step]]\nop = \"graft\"\nfrom = \"@2\"\nturns = 3\n\n[[step]]\nop = \"redact\"\nliteral = \"a secret\"\nturns = 2\n";
    let steps = parse("plan", plan).expect("a plan");
    let changes = steps.iter().map(|step| match step {
        PlanStep::Change {
            transform,
            subagents,
        } => (transform.name(), subagents.is_some()),
        PlanStep::Graft(_) => ("graft", false),
        PlanStep::Redact(_) => ("redact", false),
    });
    let expected = [
        ("strip-thinking", true),
        ("drop-tools", false),
        ("truncate", false),
        ("graft", false),
        ("redact", false),
    ];
    assert_eq!(changes.collect::<Vec<_>>(), expected);
}

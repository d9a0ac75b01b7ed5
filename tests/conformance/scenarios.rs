//! Conversations for a real client to hold with the stand-in, so that it writes real session files.

use std::ops::RangeInclusive;
use std::path::Path;

use anyhow::Result;
use base64::Engine as _;
use serde_json::{Value, json};

use crate::client::VERSIONS;
use crate::script::{Turn, bash, call, redacted, text, think, turn};
use crate::{made_up, meanwhile};

/// An eight by eight red dot.
const DOT: &str = "iVBORw0KGgoAAAANSUhEUgAAAAgAAAAICAIAAABLbSncAAAAEklEQVR4nGOoV1DAihiGlgQA4qhIAekCwzsAAAAASUVORK5CYII=";

/// What the model says when it is asked for a summary.
pub(crate) const SUMMARY: &str =
    "Earlier the user asked about the first things, and each was looked at and answered.";

/// One run of the client.
pub(crate) struct Step {
    pub(crate) how: How,
    /// The prompts of the run; but for [`How::Typed`] there is one.
    pub(crate) turns: Vec<Turn>,
    /// What subagents are asked in it.
    pub(crate) helpers: Vec<Turn>,
}

pub(crate) enum How {
    /// One prompt.
    Ask,
    /// The client is killed when this file appears in the work folder.
    Killed(&'static str),
    /// The client is interrupted, as by Ctrl+C, when this file appears in the work folder.
    Interrupted(&'static str),
    /// As if all after the answer to this prompt had not been.
    Rewound(&'static str),
    /// Prompts typed one after the other.
    Typed,
    /// In the hands of the oldest client.
    Older,
    /// Two prompts, of which the second is sent when this file appears in the work folder, while the model works.
    Queued(&'static str),
    /// No client: the suite writes into the transcript what clients have been seen to write.
    MadeUp {
        make_up: MakeUp,
        /// How many of the first turns the model is no longer shown.
        hides: usize,
    },
}

/// Changes the entries of a transcript.
pub(crate) type MakeUp = fn(&mut Vec<Value>) -> Result<()>;

pub(crate) fn step(how: How, turns: Vec<Turn>) -> Step {
    Step {
        how,
        turns,
        helpers: Vec::new(),
    }
}

pub(crate) fn ask(turn: Turn) -> Step {
    step(How::Ask, vec![turn])
}

pub(crate) struct Scenario {
    pub(crate) name: &'static str,
    /// The oldest client that it is for.
    pub(crate) since: &'static str,
    steps: fn(&Path) -> Vec<Step>,
}

impl Scenario {
    /// The steps, after laying out what they need in the work folder.
    pub(crate) fn steps(&self, work: &Path) -> Result<Vec<Step>> {
        let dot = base64::engine::general_purpose::STANDARD.decode(DOT)?;
        fs_err::write(work.join("dot.png"), dot)?;
        Ok((self.steps)(work))
    }
}

const OLDEST: &str = VERSIONS[0];

pub(crate) const SCENARIOS: &[Scenario] = &[
    Scenario {
        name: "basic",
        since: OLDEST,
        steps: basic,
    },
    Scenario {
        name: "edits",
        since: OLDEST,
        steps: edits,
    },
    Scenario {
        name: "big",
        since: OLDEST,
        steps: big,
    },
    Scenario {
        name: "failing",
        since: OLDEST,
        steps: failing,
    },
    Scenario {
        name: "compacted",
        since: OLDEST,
        steps: compacted,
    },
    Scenario {
        name: "compacted-twice",
        since: OLDEST,
        steps: compacted_twice,
    },
    Scenario {
        name: "killed",
        since: OLDEST,
        steps: killed,
    },
    Scenario {
        name: "rewound",
        since: OLDEST,
        steps: rewound,
    },
    Scenario {
        name: "subagent",
        since: OLDEST,
        steps: subagent,
    },
    Scenario {
        name: "long",
        since: OLDEST,
        steps: long,
    },
    Scenario {
        name: "crossed",
        since: OLDEST,
        steps: crossed,
    },
    Scenario {
        name: "interrupted",
        since: OLDEST,
        steps: interrupted,
    },
    Scenario {
        name: "pasted",
        since: "2.1.325",
        steps: pasted,
    },
    Scenario {
        name: "queued",
        since: OLDEST,
        steps: |_| meanwhile::queued(),
    },
    Scenario {
        name: "notified",
        since: "2.1.45",
        steps: |_| meanwhile::notified(),
    },
    Scenario {
        name: "up-to",
        since: "2.1.97",
        steps: |_| made_up::up_to(),
    },
    Scenario {
        name: "twice",
        since: OLDEST,
        steps: |_| made_up::twice(),
    },
];

pub(crate) fn scenario(name: &str) -> Option<&'static Scenario> {
    SCENARIOS.iter().find(|s| s.name == name)
}

/// A turn with thinking, text, two parallel calls and an answer.
pub(crate) fn question(n: usize) -> Turn {
    let last = if n == 2 {
        redacted("a thought that is sealed")
    } else {
        think(format!("more thought {n}"))
    };
    turn(
        format!("question {n}"),
        vec![
            vec![
                think(format!("thought {n}")),
                text(format!("Looking {n}.")),
                bash(&format!("{n}A"), &format!("echo out{n}")),
                bash(&format!("{n}B"), "pwd"),
            ],
            vec![last, text(format!("Answer {n}."))],
        ],
    )
}

fn compact() -> Step {
    ask(turn("/compact", Vec::new()))
}

pub(crate) fn asked(numbers: RangeInclusive<usize>) -> Vec<Step> {
    numbers.map(|n| ask(question(n))).collect()
}

fn basic(_: &Path) -> Vec<Step> {
    asked(1..=3)
}

fn edits(work: &Path) -> Vec<Step> {
    let file = work.join("notes.txt");
    let write = |id, name: &str, content| {
        call(
            id,
            "Write",
            &json!({"file_path": work.join(name), "content": content}),
        )
    };
    vec![
        ask(turn(
            "write the notes",
            vec![
                vec![
                    write("w1", "notes.txt", "alpha\nbeta\n"),
                    write("w2", "other.txt", "one\n"),
                ],
                vec![text("Written.")],
            ],
        )),
        ask(turn(
            "change the notes",
            vec![
                vec![
                    think("read first"),
                    call("r1", "Read", &json!({"file_path": file})),
                ],
                vec![call(
                    "e1",
                    "Edit",
                    &json!({"file_path": file, "old_string": "beta", "new_string": "gamma"}),
                )],
                vec![text("Changed.")],
            ],
        )),
        ask(turn(
            "write them anew",
            vec![
                vec![write("w3", "notes.txt", "delta\n")],
                vec![think("all done"), text("Rewritten.")],
            ],
        )),
    ]
}

fn big(work: &Path) -> Vec<Step> {
    vec![
        ask(turn(
            "list a lot",
            vec![vec![bash("s1", "seq 1 1500")], vec![text("Listed.")]],
        )),
        ask(turn(
            "list far too much",
            vec![
                vec![think("a long list"), bash("l1", "seq 1 11000")],
                vec![text("Listed more.")],
            ],
        )),
        ask(turn(
            "look at the dot",
            vec![
                vec![call(
                    "i1",
                    "Read",
                    &json!({"file_path": work.join("dot.png")}),
                )],
                vec![text("A dot.")],
            ],
        )),
    ]
}

fn failing(work: &Path) -> Vec<Step> {
    let missing = work.join("missing.txt");
    vec![
        ask(turn(
            "read what is not there",
            vec![
                vec![
                    think("it may be missing"),
                    call("f1", "Read", &json!({"file_path": missing})),
                    bash("f2", "cat missing.txt"),
                ],
                vec![bash("f3", "echo half; exit 3")],
                vec![text("Nothing there.")],
            ],
        )),
        ask(turn(
            "change what is not there",
            vec![
                vec![call(
                    "f4",
                    "Edit",
                    &json!({"file_path": missing, "old_string": "a", "new_string": "b"}),
                )],
                vec![call("f5", "NoSuchTool", &json!({"x": 1}))],
                vec![text("Could not.")],
            ],
        )),
    ]
}

fn compacted(_: &Path) -> Vec<Step> {
    let mut steps = asked(1..=2);
    steps.push(compact());
    steps.extend(asked(3..=4));
    steps
}

fn compacted_twice(work: &Path) -> Vec<Step> {
    let mut steps = compacted(work);
    steps.push(compact());
    steps.extend(asked(5..=6));
    steps
}

fn killed(_: &Path) -> Vec<Step> {
    let slow = turn(
        "start the slow one",
        vec![vec![
            think("this takes a while"),
            text("Starting."),
            bash("k1", "echo quick"),
            bash("k2", "touch started; sleep 6; echo slow"),
        ]],
    );
    vec![ask(question(1)), step(How::Killed("started"), vec![slow])]
}

fn rewound(_: &Path) -> Vec<Step> {
    let mut steps = asked(1..=2);
    steps.push(step(How::Rewound("question 1"), vec![question(3)]));
    steps.push(ask(question(4)));
    steps
}

fn subagent(_: &Path) -> Vec<Step> {
    let task = "count the files in this folder";
    let input = json!({"description": "count files", "prompt": task, "subagent_type": "general-purpose",
        "run_in_background": false});
    let helper = turn(
        task,
        vec![
            vec![think("a small count"), bash("g1", "ls | wc -l")],
            vec![text("There is one file.")],
        ],
    );
    let main = turn(
        "let a helper count",
        vec![
            vec![think("a helper can"), call("t1", "Agent|Task", &input)],
            vec![text("The helper counted.")],
        ],
    );
    vec![
        Step {
            how: How::Ask,
            turns: vec![main],
            helpers: vec![helper],
        },
        ask(question(2)),
    ]
}

/// Two hundred turns, of which every fifth has calls.
fn long(_: &Path) -> Vec<Step> {
    let chat = |n| {
        let answer = vec![think(format!("thought {n}")), text(format!("Answer {n}."))];
        turn(format!("question {n}"), vec![answer])
    };
    let turns = (1..=200).map(|n| if n % 5 == 0 { question(n) } else { chat(n) });
    vec![step(How::Typed, turns.collect())]
}

fn crossed(_: &Path) -> Vec<Step> {
    let mut steps: Vec<Step> = (1..=2)
        .map(|n| step(How::Older, vec![question(n)]))
        .collect();
    steps.extend(asked(3..=4));
    steps
}

/// A turn that a person broke off in the middle of a call, and two turns after it.
fn interrupted(_: &Path) -> Vec<Step> {
    let slow = turn(
        "start what never ends",
        vec![vec![
            think("this takes a while"),
            text("Starting."),
            bash("n1", "echo quick"),
            bash("n2", "touch started; tail -f /dev/null"),
        ]],
    );
    let mut steps = vec![
        ask(question(1)),
        step(How::Interrupted("started"), vec![slow]),
    ];
    steps.extend(asked(3..=4));
    steps
}

/// Prompts that look like texts of the client's own; older clients do not mark which prompts a person sent.
fn pasted(_: &Path) -> Vec<Step> {
    let quoted = |prompt: &str, n: usize| ask(turn(prompt, question(n).answers));
    vec![
        ask(question(1)),
        quoted("<system-reminder> is a tag: what is it for?", 2),
        quoted("Caveat: this text was pasted. Go on.", 3),
        ask(question(4)),
    ]
}

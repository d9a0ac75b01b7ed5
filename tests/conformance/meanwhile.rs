//! Conversations in which something arrives while the model works.

use serde_json::json;

use crate::scenarios::{How, Step, ask, asked, question, step};
use crate::script::{bash, call, text, think, turn};

/// A prompt that is sent while a command of the turn before it runs. Newer clients hand it to the model in mid-turn, older
/// ones when the turn is over.
pub(crate) fn queued() -> Vec<Step> {
    let slow = turn(
        "start the slow one",
        vec![
            vec![
                think("this takes a while"),
                text("Starting."),
                bash("q1", "touch started; sleep 3; echo slow"),
            ],
            vec![think("it is over"), text("The slow one is done.")],
        ],
    );
    let also = turn("and look at this too", vec![vec![text("Looked at it.")]]);
    let mut steps = vec![
        ask(question(1)),
        step(How::Queued("started"), vec![slow, also]),
    ];
    steps.extend(asked(3..=4));
    steps
}

/// A command in the background that ends while another one runs: clients notify the model in mid-turn. Client 2.1.1 stumbles
/// over the notification, and older ones have none.
pub(crate) fn notified() -> Vec<Step> {
    let input = json!({"command": "sleep 0.5; echo background", "description": "run", "run_in_background": true});
    let background = turn(
        "start one in the background",
        vec![
            vec![
                think("it can run meanwhile"),
                text("Starting."),
                call("b1", "Bash", &input),
            ],
            vec![bash("b2", "sleep 3; echo foreground")],
            vec![bash("b3", "echo and another")],
            vec![think("both are over"), text("Both are done.")],
        ],
    );
    let mut steps = vec![ask(question(1)), ask(background)];
    steps.extend(asked(3..=4));
    steps
}

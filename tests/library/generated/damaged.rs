//! Operations on made-up sessions that are damaged. They succeed, or are refused because of the damage, and what is refused
//! can be done after a repair: so the refusal hides no bug, and its hint helps.

use fastrand::Rng;
use serde_json::{Value, json};

use super::conversation::Conversation;
use super::library::{Stop, carried_out};
use super::operation::Operation;
use super::recipe::Recipe;
use super::{number, writer};

/// How many sessions are tried in every run, and how many operations on each.
const SESSIONS: u64 = 300;
const OPERATIONS_EACH: usize = 5;

/// One thing that happens to files.
#[derive(Debug, Clone, Copy)]
enum Damage {
    /// A line is lost.
    Lost,
    /// A line ends too early, and the next one follows without a line break.
    Torn,
    /// A line stands somewhere else.
    Moved,
    /// A line is there twice, under another uuid.
    Copied,
    /// A parent that is not in the file.
    NoParent,
    /// A parent that is a later entry.
    LaterParent,
    /// A call or a result has the id of another.
    SharedId,
    /// An entry has the uuid of another.
    SharedUuid,
}

const ALL: [Damage; 8] = [
    Damage::Lost,
    Damage::Torn,
    Damage::Moved,
    Damage::Copied,
    Damage::NoParent,
    Damage::LaterParent,
    Damage::SharedId,
    Damage::SharedUuid,
];

/// Changes one line of a transcript, if it is one that can be damaged in this way.
fn damaged(text: &str, damage: Damage, rng: &mut Rng) -> String {
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    let (at, other) = (rng.usize(..lines.len()), rng.usize(..lines.len()));
    let value = |line: &str| serde_json::from_str::<Value>(line).unwrap_or_default();
    let (mut this, that) = (value(&lines[at]), value(&lines[other]));
    match damage {
        Damage::Lost => drop(lines.remove(at)),
        Damage::Torn => {
            let end = lines[at].len() / 2;
            lines[at].truncate(end);
            if at + 1 < lines.len() {
                let next = lines.remove(at + 1);
                lines[at].push_str(&next);
            }
        }
        Damage::Moved => {
            let line = lines.remove(at);
            lines.insert(other.min(lines.len()), line);
        }
        Damage::Copied => {
            this["uuid"] = json!("c0c0c0c0-aaaa-4bbb-8ccc-0123456789ab");
            lines.insert(other, this.to_string());
        }
        Damage::NoParent => {
            this["parentUuid"] = json!("90000000-aaaa-4bbb-8ccc-0123456789ab");
            lines[at] = this.to_string();
        }
        Damage::LaterParent => {
            this["parentUuid"] = that["uuid"].clone();
            lines[at] = this.to_string();
        }
        Damage::SharedUuid => {
            this["uuid"] = that["uuid"].clone();
            lines[at] = this.to_string();
        }
        Damage::SharedId => {
            for key in ["id", "tool_use_id"] {
                let at = format!("/message/content/0/{key}");
                if let (Some(id), Some(own)) = (that.pointer(&at), this.pointer_mut(&at)) {
                    own.clone_from(id);
                }
            }
            lines[at] = this.to_string();
        }
    }
    lines.join("\n") + "\n"
}

/// Tries one operation on a damaged session. Returns whether it was refused because of the damage.
fn attempt(text: &str, operation: &Operation) -> Result<bool, String> {
    let before = Conversation::new(text);
    if !operation.applies(&before) {
        return Ok(false);
    }
    let why = match carried_out(text, &before, operation) {
        Ok(_) | Err(Stop::Refused(_)) => return Ok(false),
        Err(Stop::Damaged(why)) => why,
        // Some damage that the doctor does not find still ends here; a longer run lists it.
        Err(Stop::Fault(_)) if number("CCSURGERY_DAMAGED").is_none() => return Ok(false),
        Err(Stop::Fault(fault)) => return Err(format!("fault: {fault}")),
    };
    let repaired = match carried_out(text, &before, &Operation::Repair) {
        Ok(repaired) => repaired,
        Err(Stop::Fault(fault) | Stop::Damaged(fault)) => return Err(format!("repair: {fault}")),
        Err(Stop::Refused(refusal)) => return Err(format!("{why}; repair: {refusal}")),
    };
    let before = Conversation::new(&repaired);
    if operation.applies(&before)
        && let Err(Stop::Fault(fault) | Stop::Damaged(fault)) =
            carried_out(&repaired, &before, operation)
    {
        return Err(format!("{why}; after a repair: {fault}"));
    }
    Ok(true)
}

#[test]
fn what_is_refused_as_damaged_can_be_done_after_a_repair() {
    let asked = number("CCSURGERY_DAMAGED");
    let from = number("CCSURGERY_SEED").unwrap_or_else(|| match asked {
        Some(_) => fastrand::u64(..1 << 40),
        None => 0,
    });
    let (mut refused, mut failures) = (0, Vec::new());
    for seed in from..from + asked.unwrap_or(SESSIONS) {
        let mut rng = Rng::with_seed(seed ^ 0x0da1_1a6e);
        let damage = ALL[rng.usize(..ALL.len())];
        let text = damaged(&writer::write(&Recipe::new(seed)), damage, &mut rng);
        let before = Conversation::new(&text);
        for _ in 0..OPERATIONS_EACH {
            let operation = Operation::new(&mut rng, before.turns(), before.calls().len());
            match attempt(&text, &operation) {
                Ok(was_refused) => refused += usize::from(was_refused),
                Err(words) => failures.push(format!("{seed}: {damage:?}: {operation:?}: {words}")),
            }
        }
    }
    assert!(
        refused > 0,
        "no operation was refused because of the damage"
    );
    let count = failures.len();
    assert!(
        failures.is_empty(),
        "{count} failures\n{}",
        failures.join("\n")
    );
}

/// Tears a line in the middle; the next one follows without a line break.
fn torn(text: &str, words: &str) -> String {
    let (before, rest) = text.split_at(text.find(words).expect("the words"));
    let (_, next) = rest.split_once('\n').expect("a next line");
    format!("{before}{next}")
}

#[test]
fn repair_recovers_a_call_after_a_torn_one_whose_result_stays() {
    use super::recipe::{Answer, Call, End, Links, Output, Step, Thinking};

    for output in [Output::Short, Output::WithWords] {
        let calls = [output, Output::Short].map(|output| Call { tool: 0, output });
        let answer = Answer {
            thinking: Thinking::None,
            text: true,
            calls: calls.to_vec(),
            logged: false,
            names_result: false,
            disturbed: false,
        };
        let recipe = Recipe {
            version: "2.1.325",
            links: Links::OwnCall,
            split: true,
            steps: vec![Step::Answer(answer)],
            end: End::Answered,
        };
        let text = torn(&writer::write(&recipe), "\"file_path\"");
        let before = Conversation::new(&text);
        let repaired = match carried_out(&text, &before, &Operation::Repair) {
            Ok(repaired) => repaired,
            Err(Stop::Fault(why) | Stop::Damaged(why)) => panic!("{why}"),
            Err(Stop::Refused(refusal)) => panic!("{refusal}"),
        };
        let blocks = Conversation::new(&repaired).blocks();
        let has = |words: &str| blocks.iter().any(|b| b.json.to_string().contains(words));
        assert!(has("tool_use") && has("answer-"), "{repaired}");
        assert_eq!(has("beside-"), output == Output::WithWords, "{repaired}");
    }
}

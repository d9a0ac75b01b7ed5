//! Injects faults into healthy sessions, the same for the same seed.

use serde_json::{Value, json};

/// A small generator of numbers.
#[derive(Debug, Clone)]
pub(crate) struct Dice(pub(crate) u64);

impl Dice {
    pub(crate) fn below(&mut self, n: usize) -> usize {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 33) as usize) % n.max(1)
    }

    fn pick<'a, T>(&mut self, from: &'a [T]) -> Option<&'a T> {
        if from.is_empty() {
            None
        } else {
            from.get(self.below(from.len()))
        }
    }
}

/// Everything that can be done to a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fault {
    TornTail,
    TornMiddle,
    NulRun,
    Glued,
    Spliced,
    OpenEnd,
    LostEntry,
    DanglingParent,
    Cycle,
    DuplicateLine,
    DuplicateHistory,
    StrayNewest,
    UnansweredCall,
    StrayResult,
    RepeatedCall,
    Unsigned,
    Blank,
    Empty,
    StringAnswer,
    Surrogate,
    Nul,
    BadImage,
    BareBoundary,
    NoMetadata,
}

pub(crate) const ALL: [Fault; 24] = [
    Fault::TornTail,
    Fault::TornMiddle,
    Fault::NulRun,
    Fault::Glued,
    Fault::Spliced,
    Fault::OpenEnd,
    Fault::LostEntry,
    Fault::DanglingParent,
    Fault::Cycle,
    Fault::DuplicateLine,
    Fault::DuplicateHistory,
    Fault::StrayNewest,
    Fault::UnansweredCall,
    Fault::StrayResult,
    Fault::RepeatedCall,
    Fault::Unsigned,
    Fault::Blank,
    Fault::Empty,
    Fault::StringAnswer,
    Fault::Surrogate,
    Fault::Nul,
    Fault::BadImage,
    Fault::BareBoundary,
    Fault::NoMetadata,
];

/// A session with faults. Those in records come first, then those in lines, then those of the file.
pub(crate) fn corrupt(lines: &[Value], faults: &[Fault], seed: u64) -> Vec<u8> {
    let mut dice = Dice(seed);
    let mut lines = lines.to_vec();
    for fault in faults {
        in_records(&mut lines, *fault, &mut dice);
    }
    let mut texts: Vec<Vec<u8>> = lines.iter().map(|l| l.to_string().into_bytes()).collect();
    for fault in faults {
        in_lines(&mut texts, *fault, &mut dice);
    }
    let mut bytes: Vec<u8> = texts
        .iter()
        .flat_map(|t| [t, &b"\n"[..]].concat())
        .collect();
    if faults.contains(&Fault::OpenEnd) {
        bytes.pop();
    }
    bytes
}

fn at(lines: &[Value], wanted: impl Fn(&Value) -> bool) -> Vec<usize> {
    (0..lines.len()).filter(|&i| wanted(&lines[i])).collect()
}

fn is(line: &Value, kind: &str) -> bool {
    line["type"] == kind && line["uuid"].is_string()
}

fn has_block(line: &Value, kind: &str) -> bool {
    line["message"]["content"]
        .as_array()
        .is_some_and(|c| c.iter().any(|b| b["type"] == kind))
}

fn is_prompt(line: &Value) -> bool {
    is(line, "user")
        && !has_block(line, "tool_result")
        && line["isMeta"] != true
        && line["isCompactSummary"] != true
}

fn in_records(lines: &mut Vec<Value>, fault: Fault, dice: &mut Dice) {
    let pick = |lines: &[Value], dice: &mut Dice, wanted: &dyn Fn(&Value) -> bool| {
        dice.pick(&at(lines, wanted)).copied()
    };
    let chained = |l: &Value| l["uuid"].is_string();
    let said = |l: &Value| is(l, "assistant") && has_block(l, "text");
    match fault {
        Fault::LostEntry => {
            if let Some(i) = pick(lines, dice, &|l| {
                is(l, "assistant") || has_block(l, "tool_result")
            }) {
                lines.remove(i);
            }
        }
        Fault::DanglingParent => {
            if let Some(i) = pick(lines, dice, &|l| chained(l) && l["parentUuid"].is_string()) {
                lines[i]["parentUuid"] = json!("00000000-0000-4000-8000-00000000dead");
            }
        }
        Fault::Cycle => {
            let all = at(lines, chained);
            if let (Some(&first), Some(&other)) = (all.first(), dice.pick(&all)) {
                lines[first]["parentUuid"] = lines[other]["uuid"].clone();
            }
        }
        Fault::DuplicateLine => {
            if let Some(i) = pick(lines, dice, &chained) {
                lines.insert(i, lines[i].clone());
            }
        }
        Fault::DuplicateHistory => {
            let again: Vec<Value> = at(lines, chained)
                .into_iter()
                .take(3)
                .map(|i| lines[i].clone())
                .collect();
            lines.extend(again);
        }
        Fault::StrayNewest => {
            if let Some(i) = pick(lines, dice, &is_prompt) {
                let mut stray = lines[i].clone();
                stray["uuid"] = json!("00000000-0000-4000-8000-0000000000aa");
                stray["parentUuid"] = Value::Null;
                stray["timestamp"] = json!("2031-01-01T00:00:00.000Z");
                stray["message"]["content"] = json!("A stray prompt.");
                lines.insert(0, stray);
            }
        }
        Fault::UnansweredCall | Fault::StrayResult => {
            let kind = if fault == Fault::StrayResult {
                "tool_use"
            } else {
                "tool_result"
            };
            if let Some(i) = pick(lines, dice, &|l| has_block(l, kind)) {
                let (own, parent) = (lines[i]["uuid"].clone(), lines[i]["parentUuid"].clone());
                lines.remove(i);
                for line in lines.iter_mut().filter(|l| l["parentUuid"] == own) {
                    line["parentUuid"] = parent.clone();
                }
            }
        }
        Fault::RepeatedCall => {
            let calls = at(lines, |l| has_block(l, "tool_use"));
            if let (Some(&a), Some(&b)) = (calls.first(), calls.last()) {
                let (old, new) = (
                    lines[b]["message"]["content"][0]["id"].clone(),
                    lines[a]["message"]["content"][0]["id"].clone(),
                );
                for line in lines.iter_mut() {
                    for block in line["message"]["content"]
                        .as_array_mut()
                        .into_iter()
                        .flatten()
                    {
                        for key in ["id", "tool_use_id"] {
                            if block[key] == old && !old.is_null() {
                                block[key] = new.clone();
                            }
                        }
                    }
                }
            }
        }
        Fault::Unsigned => {
            if let Some(i) = pick(lines, dice, &|l| has_block(l, "thinking")) {
                lines[i]["message"]["content"][0]["signature"] = json!("");
            }
        }
        Fault::Blank => {
            if let Some(i) = pick(lines, dice, &said) {
                lines[i]["message"]["content"]
                    .as_array_mut()
                    .unwrap()
                    .push(json!({"type": "text", "text": " \n"}));
            }
        }
        Fault::Empty => {
            if let Some(i) = pick(lines, dice, &|l| has_block(l, "thinking")) {
                lines[i]["message"]["content"] = json!([]);
            }
        }
        Fault::StringAnswer => {
            if let Some(i) = pick(lines, dice, &said) {
                lines[i]["message"]["content"] = lines[i]["message"]["content"][0]["text"].clone();
            }
        }
        Fault::BadImage => {
            if let Some(i) = pick(lines, dice, &is_prompt) {
                let text = match &lines[i]["message"]["content"] {
                    Value::String(s) => s.clone(),
                    _ => "See.".to_owned(),
                };
                lines[i]["message"]["content"] = json!([{"type": "text", "text": text}, {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "bm8="}}]);
            }
        }
        Fault::BareBoundary => {
            let last = at(lines, chained).last().map(|&i| lines[i].clone());
            if let Some(last) = last {
                lines.push(json!({"parentUuid": null, "logicalParentUuid": last["uuid"], "isSidechain": false, "type": "system", "subtype": "compact_boundary", "content": "Conversation compacted", "timestamp": "2029-01-01T00:00:00.000Z", "uuid": "00000000-0000-4000-8000-0000000000ad", "sessionId": last["sessionId"], "compactMetadata": {"trigger": "manual", "preTokens": 1}}));
            }
        }
        Fault::NoMetadata => {
            for line in lines
                .iter_mut()
                .filter(|l| l["subtype"] == "compact_boundary")
            {
                line.as_object_mut().unwrap().remove("compactMetadata");
            }
        }
        _ => {}
    }
}

fn in_lines(texts: &mut Vec<Vec<u8>>, fault: Fault, dice: &mut Dice) {
    let whole: Vec<usize> = (0..texts.len())
        .filter(|&i| {
            texts[i].starts_with(b"{") && serde_json::from_slice::<Value>(&texts[i]).is_ok()
        })
        .collect();
    let Some(&i) = dice.pick(&whole) else { return };
    match fault {
        Fault::TornTail => {
            let last = texts.last().cloned().unwrap_or_default();
            texts.push(last[..last.len() / 2].to_vec());
        }
        Fault::TornMiddle => {
            let half = texts[i].len() / 2;
            texts[i].truncate(half);
        }
        Fault::NulRun => texts[i].splice(0..0, vec![0; 40]).for_each(drop),
        Fault::Glued if whole.contains(&(i + 1)) => {
            let next = texts.remove(i + 1);
            texts[i].extend(next);
        }
        Fault::Spliced => {
            let stub = texts[i][..texts[i].len() / 3].to_vec();
            texts[i].splice(0..0, stub).for_each(drop);
        }
        Fault::Surrogate | Fault::Nul => {
            let escape: &[u8] = if fault == Fault::Nul {
                br"\u0000"
            } else {
                br"\ud83d"
            };
            let spot = texts.iter().position(|t| find(t, b"Answer ").is_some());
            if let Some(line) = spot
                && let Some(at) = find(&texts[line], b"Answer ")
            {
                texts[line]
                    .splice(at..at, escape.iter().copied())
                    .for_each(drop);
            }
        }
        _ => {}
    }
}

fn find(text: &[u8], needle: &[u8]) -> Option<usize> {
    text.windows(needle.len()).position(|w| w == needle)
}

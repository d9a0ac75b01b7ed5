//! Injects faults into healthy sessions, the same for the same seed.
#![allow(dead_code, reason = "not every test uses all of it")]
#![allow(
    clippy::unwrap_used,
    reason = "a test that cannot be set up has failed"
)]

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
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
    ByteOrderMark,
    InvalidUtf8,
    LostEntry,
    DanglingParent,
    Cycle,
    SelfParent,
    DuplicateLine,
    DuplicateHistory,
    OtherDuplicate,
    StrayNewest,
    StrayLast,
    UnansweredCall,
    StrayResult,
    RepeatedCall,
    RepeatedResult,
    ResultBeforeCall,
    SplitServerResult,
    Unsigned,
    AdjacentThinking,
    LoneThinking,
    Blank,
    BlankAnswer,
    Empty,
    StringAnswer,
    Surrogate,
    Nul,
    BadImage,
    ReplayedError,
    ForeignEntries,
    BareBoundary,
    NoMetadata,
    LostBoundary,
    LostPreserved,
    LostLogicalParent,
    StaleLastPrompt,
    LargeImage,
    WideImage,
    ManyWideImages,
    OtherKindOfImage,
    LockedDocument,
    TornDocument,
}

impl Fault {
    /// Whether it takes away what a boundary says of the messages that were kept.
    pub(crate) fn forgets_what_is_kept(self) -> bool {
        matches!(
            self,
            Self::NoMetadata | Self::LostBoundary | Self::LostPreserved
        )
    }

    /// Whether who goes from parent to parent may come back to where they were.
    pub(crate) fn closes_a_chain(self) -> bool {
        matches!(self, Self::Cycle | Self::SelfParent | Self::OtherDuplicate)
    }

    /// Whether it needs a session that was compacted.
    pub(crate) fn is_of_compaction(self) -> bool {
        matches!(
            self,
            Self::NoMetadata
                | Self::LostBoundary
                | Self::LostPreserved
                | Self::LostLogicalParent
                | Self::StaleLastPrompt
        )
    }
}

/// All but those with pictures and documents.
pub(crate) const ALL: [Fault; 41] = [
    Fault::TornTail,
    Fault::TornMiddle,
    Fault::NulRun,
    Fault::Glued,
    Fault::Spliced,
    Fault::OpenEnd,
    Fault::ByteOrderMark,
    Fault::InvalidUtf8,
    Fault::LostEntry,
    Fault::DanglingParent,
    Fault::Cycle,
    Fault::SelfParent,
    Fault::DuplicateLine,
    Fault::DuplicateHistory,
    Fault::OtherDuplicate,
    Fault::StrayNewest,
    Fault::StrayLast,
    Fault::UnansweredCall,
    Fault::StrayResult,
    Fault::RepeatedCall,
    Fault::RepeatedResult,
    Fault::ResultBeforeCall,
    Fault::SplitServerResult,
    Fault::Unsigned,
    Fault::AdjacentThinking,
    Fault::LoneThinking,
    Fault::Blank,
    Fault::BlankAnswer,
    Fault::Empty,
    Fault::StringAnswer,
    Fault::Surrogate,
    Fault::Nul,
    Fault::BadImage,
    Fault::ReplayedError,
    Fault::ForeignEntries,
    Fault::BareBoundary,
    Fault::NoMetadata,
    Fault::LostBoundary,
    Fault::LostPreserved,
    Fault::LostLogicalParent,
    Fault::StaleLastPrompt,
];

/// Those with pictures and documents, which are slow to make.
pub(crate) const MEDIA: [Fault; 6] = [
    Fault::LargeImage,
    Fault::WideImage,
    Fault::ManyWideImages,
    Fault::OtherKindOfImage,
    Fault::LockedDocument,
    Fault::TornDocument,
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
    if faults.contains(&Fault::ByteOrderMark) {
        bytes.splice(0..0, *b"\xef\xbb\xbf").for_each(drop);
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
        Fault::SelfParent => {
            if let Some(i) = pick(lines, dice, &chained) {
                lines[i]["parentUuid"] = lines[i]["uuid"].clone();
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
        Fault::OtherDuplicate => {
            let (first, again) = (pick(lines, dice, &is_prompt), pick(lines, dice, &said));
            if let (Some(first), Some(again)) = (first, again) {
                let (old, new) = (lines[again]["uuid"].clone(), lines[first]["uuid"].clone());
                lines[again]["uuid"] = new.clone();
                for line in lines.iter_mut().skip(again + 1) {
                    if line["parentUuid"] == old {
                        line["parentUuid"] = new.clone();
                    }
                }
            }
        }
        Fault::StrayNewest => {
            if let Some(i) = pick(lines, dice, &is_prompt) {
                let stray = stray(&lines[i], "aa", "2031-01-01T00:00:00.000Z");
                lines.insert(0, stray);
            }
        }
        Fault::StrayLast => {
            if let Some(i) = pick(lines, dice, &is_prompt) {
                let stray = stray(&lines[i], "ab", "2020-01-01T00:00:00.000Z");
                lines.retain(|l| l["type"] != "last-prompt");
                lines.push(stray);
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
        Fault::RepeatedResult => {
            if let Some(i) = pick(lines, dice, &|l| has_block(l, "tool_result")) {
                let copy = lines[i].clone();
                put_behind(lines, i, copy, "ac");
            }
        }
        Fault::ResultBeforeCall => {
            let answers = |l: &Value| has_block(l, "tool_result");
            if let Some(r) = pick(lines, dice, &answers) {
                let id = &lines[r]["message"]["content"][0]["tool_use_id"];
                let calls = |l: &Value| {
                    let mut blocks = l["message"]["content"].as_array().into_iter().flatten();
                    blocks.any(|b| b["id"] == *id)
                };
                if let Some(c) = lines.iter().position(calls)
                    && lines[r]["parentUuid"] == lines[c]["uuid"]
                {
                    let (call, result) = (lines[c]["uuid"].clone(), lines[r]["uuid"].clone());
                    for line in lines.iter_mut().filter(|l| l["parentUuid"] == result) {
                        line["parentUuid"] = call.clone();
                    }
                    lines[r]["parentUuid"] = lines[c]["parentUuid"].clone();
                    lines[c]["parentUuid"] = result;
                }
            }
        }
        Fault::SplitServerResult => {
            if let Some(i) = pick(lines, dice, &said) {
                let mut call = lines[i].clone();
                call["message"]["id"] = json!("msg_server_1");
                call["message"]["content"] = json!([{"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {"query": "x"}}]);
                let mut result = lines[i].clone();
                result["message"]["id"] = json!("msg_server_2");
                result["message"]["content"] = json!([{"type": "web_search_tool_result", "tool_use_id": "srvtoolu_1", "content": []}]);
                put_behind(lines, i, call, "a1");
                put_behind(lines, i + 1, result, "a2");
            }
        }
        Fault::AdjacentThinking => {
            if let Some(i) = pick(lines, dice, &|l| has_block(l, "thinking")) {
                let mut copy = lines[i].clone();
                lines[i]["message"]["content"][0]["thinking"] = json!("A first thought.");
                copy["message"]["content"][0]["thinking"] = json!("A second thought.");
                put_behind(lines, i, copy, "a3");
            }
        }
        Fault::LoneThinking => {
            if let Some(i) = pick(lines, dice, &|l| has_block(l, "thinking")) {
                let mut copy = lines[i].clone();
                copy["message"]["id"] = json!("msg_lone");
                put_behind(lines, i, copy, "a4");
            }
        }
        Fault::ReplayedError => {
            if let Some(i) = pick(lines, dice, &said) {
                let mut error = lines[i].clone();
                error["isApiErrorMessage"] = json!(true);
                error["message"]["id"] = json!("msg_error");
                error["message"]["model"] = json!("<synthetic>");
                error["message"]["content"] =
                    json!([{"type": "text", "text": "API Error: 400 no"}]);
                put_behind(lines, i, error, "a5");
            }
        }
        Fault::ForeignEntries => {
            if let Some(i) = pick(lines, dice, &is_prompt) {
                lines[i]["sessionId"] = json!("00000000-0000-4000-8000-0000000000f0");
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
        Fault::BlankAnswer => {
            if let Some(i) = pick(lines, dice, &|l| has_block(l, "thinking")) {
                lines[i]["message"]["content"] = json!([{"type": "text", "text": ""}]);
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
        Fault::BadImage => attach(lines, dice, &[image("image/png", b"no")]),
        Fault::OtherKindOfImage => attach(lines, dice, &[image("image/jpeg", &png(8, 8, 1))]),
        Fault::LargeImage => attach(lines, dice, &[image("image/png", &png(1500, 1000, 7))]),
        Fault::WideImage => attach(lines, dice, &[image("image/png", &png(8100, 4, 1))]),
        Fault::ManyWideImages => {
            attach(lines, dice, &vec![image("image/png", &png(2100, 4, 1)); 21]);
        }
        Fault::LockedDocument => {
            attach(
                lines,
                dice,
                &[document(b"%PDF-1.4\ntrailer <</Encrypt 5 0 R>>\n%%EOF")],
            );
        }
        Fault::TornDocument => attach(lines, dice, &[document(b"%PDF-1.4\n1 0 obj <<")]),
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
        Fault::LostBoundary => lines.retain(|l| l["subtype"] != "compact_boundary"),
        Fault::LostPreserved => {
            let gone = json!("00000000-0000-4000-8000-00000000dead");
            for line in lines
                .iter_mut()
                .filter(|l| l["subtype"] == "compact_boundary")
            {
                line["compactMetadata"]["preservedSegment"] =
                    json!({"headUuid": gone, "anchorUuid": gone, "tailUuid": gone});
                line["compactMetadata"]["preservedMessages"] =
                    json!({"anchorUuid": gone, "uuids": [gone], "allUuids": [gone]});
            }
        }
        Fault::LostLogicalParent => {
            for line in lines
                .iter_mut()
                .filter(|l| l["subtype"] == "compact_boundary")
            {
                line["logicalParentUuid"] = json!("00000000-0000-4000-8000-00000000dead");
            }
        }
        Fault::StaleLastPrompt => {
            let boundary = lines
                .iter()
                .position(|l| l["subtype"] == "compact_boundary");
            let stale = boundary.and_then(|b| lines[..b].iter().rfind(|l| is(l, "assistant")));
            if let Some(stale) = stale {
                let note = json!({"type": "last-prompt", "lastPrompt": "x", "leafUuid": stale["uuid"], "sessionId": stale["sessionId"]});
                lines.push(note);
            }
        }
        _ => {}
    }
}

/// A prompt of no conversation.
fn stray(like: &Value, id: &str, time: &str) -> Value {
    let mut stray = like.clone();
    stray["uuid"] = json!(format!("00000000-0000-4000-8000-0000000000{id}"));
    stray["parentUuid"] = Value::Null;
    stray["timestamp"] = json!(time);
    stray["message"]["content"] = json!("A stray prompt.");
    stray
}

/// Puts an entry behind another, in the file and in the chain, a moment later.
fn put_behind(lines: &mut Vec<Value>, at: usize, mut entry: Value, id: &str) {
    let before = lines[at]["uuid"].clone();
    let own = json!(format!("00000000-0000-4000-8000-0000000000{id}"));
    for line in lines.iter_mut().filter(|l| l["parentUuid"] == before) {
        line["parentUuid"] = own.clone();
    }
    entry["uuid"] = own.clone();
    entry["parentUuid"] = before.clone();
    for line in lines.iter_mut().filter(|l| l["leafUuid"] == before) {
        line["leafUuid"] = own.clone();
    }
    lines.insert(at + 1, entry);
}

/// Attaches blocks to a prompt.
fn attach(lines: &mut [Value], dice: &mut Dice, blocks: &[Value]) {
    let Some(&i) = dice.pick(&at(lines, is_prompt)) else {
        return;
    };
    let content = &mut lines[i]["message"]["content"];
    if let Value::String(text) = content {
        *content = json!([{"type": "text", "text": text}]);
    }
    content.as_array_mut().unwrap().extend_from_slice(blocks);
}

fn image(kind: &str, bytes: &[u8]) -> Value {
    json!({"type": "image", "source": {"type": "base64", "media_type": kind, "data": STANDARD.encode(bytes)}})
}

fn document(bytes: &[u8]) -> Value {
    json!({"type": "document", "source": {"type": "base64", "media_type": "application/pdf", "data": STANDARD.encode(bytes)}})
}

/// A picture; of noise where the seed is not 1, and then as large as its pixels are many.
fn png(width: u32, height: u32, seed: u64) -> Vec<u8> {
    let mut dice = Dice(seed);
    let picture = image::RgbaImage::from_fn(width, height, |_, _| {
        let n = if seed == 1 { 0 } else { dice.below(1 << 24) };
        image::Rgba([n as u8, (n >> 8) as u8, (n >> 16) as u8, 255])
    });
    let mut out = std::io::Cursor::new(Vec::new());
    picture.write_to(&mut out, image::ImageFormat::Png).unwrap();
    out.into_inner()
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
        Fault::Surrogate | Fault::Nul | Fault::InvalidUtf8 => {
            let escape: &[u8] = match fault {
                Fault::Nul => br"\u0000",
                Fault::Surrogate => br"\ud83d",
                _ => b"\xff",
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

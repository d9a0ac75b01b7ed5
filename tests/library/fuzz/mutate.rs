//! Changes a session in ways in which sessions break, and in ways that nobody thought of.

/// Numbers from a seed.
pub(crate) struct Dice(pub(crate) u64);

impl Dice {
    /// A number below `n`, or 0.
    pub(crate) fn below(&mut self, n: usize) -> usize {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 33) as usize) % n.max(1)
    }
}

/// What fields are changed into.
const ODD: [&str; 20] = [
    "null",
    "\"\"",
    "[]",
    "{}",
    "0",
    "-1",
    "1e999",
    "true",
    "\"\\ud83d\"",
    "\"\\u0000\"",
    "[[[[]]]]",
    "\"user\"",
    "\"assistant\"",
    "\"system\"",
    "\"tool_use\"",
    "\"tool_result\"",
    "\"thinking\"",
    "\"compact_boundary\"",
    "[{\"type\":\"text\",\"text\":\"\"}]",
    "\"9999-99-99T99:99:99Z\"",
];

/// One change.
pub(crate) fn mutate(bytes: &mut Vec<u8>, dice: &mut Dice) {
    let lines: Vec<Vec<u8>> = bytes
        .split_inclusive(|b| *b == b'\n')
        .map(<[u8]>::to_vec)
        .collect();
    if lines.is_empty() {
        bytes.extend_from_slice(b"{}\n");
        return;
    }
    let (a, b) = (dice.below(lines.len()), dice.below(lines.len()));
    let mut lines = lines;
    match dice.below(14) {
        0 => lines.swap(a, b),
        1 => {
            let line = lines[a].clone();
            lines.insert(b, line);
        }
        2 => drop(lines.remove(a)),
        3 => {
            let cut = dice.below(lines[a].len());
            lines[a].truncate(cut);
        }
        4 => {
            let at = dice.below(lines[a].len());
            lines[a][at] ^= 1 << dice.below(8);
        }
        5 => {
            let at = dice.below(lines[a].len());
            lines[a].splice(at..at, [0; 3]);
        }
        6 => {
            lines.truncate(a + 1);
            let cut = dice.below(lines[a].len());
            lines[a].truncate(cut);
        }
        7..=9 => value(&mut lines, a, b, dice),
        10 | 11 => ids(&mut lines, a, b, dice),
        12 => {
            // A key twice, or one more.
            if let Some(at) = lines[a].iter().position(|c| *c == b'{') {
                let odd = ODD[dice.below(ODD.len())];
                let keys = ["uuid", "parentUuid", "type", "message", "isSidechain"];
                let field = format!("\"{}\":{odd},", keys[dice.below(keys.len())]);
                let behind = at + 1;
                lines[a].splice(behind..behind, field.bytes());
            }
        }
        _ => {
            let line = lines[a].clone();
            let end = line.iter().rposition(|c| *c == b'}').unwrap_or(0);
            let at = dice.below(lines[b].len());
            lines[b].splice(at..at, line[..end].iter().copied());
        }
    }
    *bytes = lines.concat();
}

/// Where values of a line begin and end: behind a colon, up to the next comma or bracket.
fn values(line: &[u8]) -> Vec<(usize, usize)> {
    let colons = line.iter().enumerate().filter(|(_, c)| **c == b':');
    let starts = colons.map(|(at, _)| at + 1);
    starts
        .map(|start| {
            let quoted = line.get(start) == Some(&b'"');
            let body = start + usize::from(quoted);
            let ends = |c: &u8| {
                if quoted {
                    *c == b'"'
                } else {
                    b",}]".contains(c)
                }
            };
            let len = line[body.min(line.len())..].iter().position(ends);
            let end = body + len.unwrap_or(0) + usize::from(quoted);
            (start, end.min(line.len()))
        })
        .filter(|(start, end)| start < end)
        .collect()
}

/// Gives a field an odd value, or that of another.
fn value(lines: &mut [Vec<u8>], a: usize, b: usize, dice: &mut Dice) {
    let (from, to) = (values(&lines[b]), values(&lines[a]));
    if to.is_empty() {
        return;
    }
    let target = to[dice.below(to.len())];
    let new = if from.is_empty() || dice.below(2) == 0 {
        ODD[dice.below(ODD.len())].as_bytes().to_vec()
    } else {
        let source = from[dice.below(from.len())];
        lines[b][source.0..source.1].to_vec()
    };
    lines[a].splice(target.0..target.1, new);
}

/// Gives a field that names an entry the id of another.
fn ids(lines: &mut [Vec<u8>], a: usize, b: usize, dice: &mut Dice) {
    let is_id = |line: &[u8], span: &(usize, usize)| {
        let text = &line[span.0..span.1];
        text == b"null"
            || text.len() == 38
            || text.starts_with(b"\"toolu_")
            || text.starts_with(b"\"msg_")
    };
    let from: Vec<_> = values(&lines[b])
        .into_iter()
        .filter(|s| is_id(&lines[b], s))
        .collect();
    let to: Vec<_> = values(&lines[a])
        .into_iter()
        .filter(|s| is_id(&lines[a], s))
        .collect();
    if from.is_empty() || to.is_empty() {
        return;
    }
    let (source, target) = (from[dice.below(from.len())], to[dice.below(to.len())]);
    let id = lines[b][source.0..source.1].to_vec();
    lines[a].splice(target.0..target.1, id);
}

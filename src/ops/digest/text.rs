//! Cleans, splits and shortens text.

use std::borrow::Cow;

use crate::view::back_to_boundary;

/// The least room in bytes for a text of many lines to be shortened line by line.
const OUTLINED: usize = 400;

/// A text of more lines than this has many.
const LINES: usize = 10;

/// How many lines at the beginning and at the end of such a text are kept first.
const ENDS: (usize, usize) = (3, 3);

/// Shortens a text of many lines to that many bytes: its first and last lines and its headings stay, then as many of
/// the other lines as there is room for.
fn outline(text: &str, most: usize) -> String {
    let lines: Vec<&str> = text.lines().map(str::trim_end).collect();
    let mut code = false;
    let mut ranked: Vec<(u8, usize)> = Vec::with_capacity(lines.len());
    for (at, line) in lines.iter().enumerate() {
        let fence = line.trim_start().starts_with("```");
        let ends = at < ENDS.0 || at + ENDS.1 >= lines.len();
        let rank = match line.trim_start() {
            "" => continue,
            _ if ends => 0,
            _ if code || fence => 4,
            line if line.starts_with('#') || line.starts_with("**") => 1,
            words if words.len() == line.len() => 2,
            _ => 3,
        };
        code ^= fence;
        ranked.push((rank, at));
    }
    ranked.sort_unstable();
    let mut room = most;
    let mut kept: Vec<usize> = Vec::new();
    for (_, at) in ranked {
        // A line break, and perhaps a mark for what follows it.
        let size = lines[at].len().min(LONG_LINE) + 1 + MARK.len();
        if size > room {
            continue;
        }
        room -= size;
        kept.push(at);
    }
    kept.sort_unstable();
    let mut out = String::with_capacity(most);
    for (n, &at) in kept.iter().enumerate() {
        let line = lines[at];
        out.push_str(&line[..back_to_boundary(line, LONG_LINE - MARK.len())]);
        let next = kept.get(n + 1).copied().unwrap_or(lines.len());
        let left_out = lines[at + 1..next].iter().any(|l| !l.is_empty());
        if left_out || line.len() > LONG_LINE - MARK.len() {
            out.push_str(MARK);
        }
        out.push('\n');
    }
    out.trim_end().to_owned()
}

/// The most bytes of one line of a text that is shortened line by line.
const LONG_LINE: usize = 320;

/// Marks what was left out after a line.
const MARK: &str = " […]";

/// Shortens a text to about that many bytes: its beginning and its end, or of many lines those that matter most.
pub(super) fn shorten(text: &str, most: usize) -> String {
    let text = text.trim();
    if text.len() <= most {
        return text.to_owned();
    }
    if most >= OUTLINED && text.lines().count() > LINES {
        return outline(text, most);
    }
    let gap = " […] ";
    let room = most.saturating_sub(gap.len());
    let head = back_to_boundary(text, room * 2 / 3);
    let tail = on_to_boundary(text, text.len() - room / 3);
    if room < 60 {
        return format!(
            "{}…",
            text[..back_to_boundary(text, most.saturating_sub(3))].trim_end()
        );
    }
    format!(
        "{}{gap}{}",
        text[..head].trim_end(),
        text[tail..].trim_start()
    )
}

/// Returns the beginning of a text on one line, in at most about that many bytes.
pub(super) fn one_line(text: &str, most: usize) -> String {
    let head = &text[..back_to_boundary(text, most.saturating_mul(4))];
    let mut line = String::with_capacity(head.len());
    for word in head.split_whitespace() {
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(word);
    }
    if line.len() <= most && head.len() == text.len() {
        return line;
    }
    let end = back_to_boundary(&line, most.saturating_sub(3));
    format!("{}…", line[..end].trim_end())
}

/// The first place of a character at or after a byte.
fn on_to_boundary(text: &str, at: usize) -> usize {
    (at..text.len())
        .find(|&i| text.is_char_boundary(i))
        .unwrap_or(text.len())
}

/// Removes what the client puts around or into a person's words: reminders, and what the editor shows.
pub(super) fn without_client_tags(mut text: String) -> String {
    for (open, close) in [
        ("<system-reminder>", "</system-reminder>"),
        ("<ide_opened_file>", "</ide_opened_file>"),
        ("<ide_selection>", "</ide_selection>"),
        ("<local-command-caveat>", "</local-command-caveat>"),
    ] {
        let mut searched = 0;
        while let Some(at) = find(&text[searched..], open) {
            let from = searched + at;
            let end = find(&text[from..], close).map(|at| from + at + close.len());
            text.replace_range(from..end.unwrap_or(text.len()), "");
            // What was around the tag may be a tag now.
            searched = back_to_boundary(&text, from.saturating_sub(open.len()));
        }
    }
    let trimmed = text.trim();
    if trimmed.len() == text.len() {
        text
    } else {
        trimmed.to_owned()
    }
}

/// Removes the colours of a terminal.
pub(super) fn without_colours(text: String) -> String {
    let Some(mut at) = text.find('\u{1b}') else {
        return text;
    };
    let mut out = String::with_capacity(text.len());
    let mut rest = text.as_str();
    loop {
        out.push_str(&rest[..at]);
        rest = &rest[at + 1..];
        if let Some(sequence) = rest.strip_prefix('[') {
            let end = sequence.find(|c: char| c.is_ascii_alphabetic());
            rest = end.map_or("", |end| &sequence[end + 1..]);
        }
        match rest.find('\u{1b}') {
            Some(next) => at = next,
            None => break,
        }
    }
    out + rest
}

/// Finds the first place of a word.
pub(super) fn find(text: &str, word: &str) -> Option<usize> {
    memchr::memmem::find(text.as_bytes(), word.as_bytes())
}

/// Splits the model's prose into sentences and lines of lists. Code and tables are left out.
pub(super) fn sentences(text: &str) -> Vec<Cow<'_, str>> {
    let mut out = Vec::new();
    let mut code = false;
    for line in text.lines() {
        let line = line.trim();
        if line.starts_with("```") {
            code = !code;
            continue;
        }
        if code || line.len() < 12 || line.starts_with('|') || line.starts_with('#') {
            continue;
        }
        let line = line.trim_start_matches(['-', '*', '•', '>', ' ']);
        if find(line, "**").is_some() {
            let plain = line.replace("**", "");
            let parts = sentences_of_line(&plain);
            out.extend(parts.into_iter().map(|s| Cow::Owned(s.to_owned())));
        } else {
            out.extend(sentences_of_line(line).into_iter().map(Cow::Borrowed));
        }
    }
    out
}

fn sentences_of_line(line: &str) -> Vec<&str> {
    let mut out = Vec::new();
    if line.ends_with(':') && line.len() < 40 {
        return out;
    }
    let mut from = 0;
    let marks = line
        .bytes()
        .enumerate()
        .filter(|(_, b)| matches!(b, b'.' | b'!' | b'?'));
    for (at, _) in marks {
        let next = at + 1;
        let ends = line[next..].starts_with(' ')
            && next - from >= 40
            && line[next..]
                .trim_start()
                .starts_with(|c: char| !c.is_lowercase());
        if ends {
            out.push(line[from..next].trim());
            from = next;
        }
    }
    let rest = line[from..].trim();
    if rest.len() >= 12 {
        out.push(rest);
    }
    out
}

/// Makes the headings in a text plain lines, so that they do not look like headings of the digest.
pub(super) fn without_headings(text: &str) -> String {
    let plain = |line: &str| {
        let words = line.trim_start_matches('#');
        let heading = words.len() < line.len() && words.starts_with(' ');
        if heading {
            words.trim().to_owned()
        } else {
            line.to_owned()
        }
    };
    text.lines().map(plain).collect::<Vec<_>>().join("\n")
}

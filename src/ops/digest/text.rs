//! Cleans, splits and shortens text.

use std::borrow::Cow;

use crate::view::back_to_boundary;

/// Shortens a text to about that many bytes: its beginning and its end.
pub(super) fn shorten(text: &str, most: usize) -> String {
    let text = text.trim();
    if text.len() <= most {
        return text.to_owned();
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

//! A line for each session in a form that the user chooses: `--format '{id} {title}'`.

use std::str::FromStr;

use crate::view::SessionRow;

use super::context::Context;

/// The names that can stand in braces.
const NAMES: [&str; 13] = [
    "id", "short_id", "title", "project", "path", "turns", "tokens", "bytes", "modified",
    "expires", "branch", "model", "state",
];

/// A form for the lines of a list.
#[derive(Debug, Clone)]
pub(super) struct RowFormat(Vec<Piece>);

#[derive(Debug, Clone)]
enum Piece {
    Text(String),
    Field(&'static str),
}

impl FromStr for RowFormat {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let text = text.replace("\\t", "\t").replace("\\n", "\n");
        let mut pieces = Vec::new();
        let mut rest = text.as_str();
        while let Some(open) = rest.find('{') {
            let after = &rest[open + 1..];
            let close = after.find('}').ok_or("a `{` has no `}`")?;
            let named = NAMES.iter().find(|name| **name == &after[..close]);
            let name = named.ok_or_else(|| {
                let list: Vec<String> = NAMES.iter().map(|n| format!("{{{n}}}")).collect();
                format!(
                    "there is no {{{}}}; there are {}",
                    &after[..close],
                    list.join(" ")
                )
            })?;
            pieces.push(Piece::Text(rest[..open].to_owned()));
            pieces.push(Piece::Field(name));
            rest = &after[close + 1..];
        }
        pieces.push(Piece::Text(rest.to_owned()));
        Ok(Self(pieces))
    }
}

impl RowFormat {
    /// Returns the line of a session.
    pub(super) fn line(&self, context: &Context, row: &SessionRow) -> String {
        let pieces = self.0.iter().map(|piece| match piece {
            Piece::Text(text) => text.clone(),
            Piece::Field(name) => context.words(value(row, name)),
        });
        pieces.collect()
    }
}

fn value(row: &SessionRow, name: &str) -> String {
    let text = |t: &Option<crate::view::SessionText>| {
        t.as_ref().map(|t| t.raw().to_owned()).unwrap_or_default()
    };
    match name {
        "id" => row.session_id.clone(),
        "short_id" => row.short_id.clone(),
        "title" => row.name().into_raw(),
        "project" => row.project.clone().unwrap_or_default(),
        "path" => row.path.to_string_lossy().into_owned(),
        "turns" => row.turns.map_or("?".to_owned(), |n| n.to_string()),
        "tokens" => row.tokens.to_string(),
        "bytes" => row.bytes.to_string(),
        "modified" => row.modified.clone().unwrap_or_default(),
        "expires" => row.expires.clone().unwrap_or_default(),
        "branch" => text(&row.branch),
        "model" => text(&row.model),
        _ => row.state.name().to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn row_format_names_its_fields() {
        assert!("{id}\\t{title}".parse::<RowFormat>().is_ok());
        assert!("plain".parse::<RowFormat>().is_ok());
        let wrong = "{nope}".parse::<RowFormat>().expect_err("a mistake");
        assert!(wrong.contains("{short_id}"), "{wrong}");
        assert!("{id".parse::<RowFormat>().is_err());
    }
}

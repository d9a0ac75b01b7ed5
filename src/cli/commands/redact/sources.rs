//! What the command line names as secrets.

use std::path::Path;

use crate::render::clean;
use crate::secrets::{Scanner, UserRules, dotenv_values};

use super::super::super::context::Context;
use super::super::super::error::{CliError, ErrorKind};
use super::RedactOptions;

/// Options whose values are secrets, or describe them.
const SECRET_OPTIONS: [&str; 2] = ["--literal", "--regex"];

/// Returns a scanner for what the arguments name.
pub(super) fn scanner(context: &mut Context, args: &RedactOptions) -> Result<Scanner, CliError> {
    let mut rules = UserRules::default();
    for path in &args.rules {
        let file = UserRules::parse(&text(path)?).map_err(|e| {
            let message = format!("the rules in `{}` cannot be used: {e}", path.display());
            CliError::usage(
                ErrorKind::Usage,
                message,
                "see gitleaks' configuration for the form",
            )
        })?;
        rules.extend(file);
    }
    for pattern in &args.regex {
        rules.add_pattern(pattern).map_err(|e| {
            CliError::usage(
                ErrorKind::Usage,
                e.to_string(),
                "patterns are those of Rust's `regex` crate, over bytes",
            )
        })?;
    }
    for literal in &args.literal {
        if literal.trim().len() < 4 {
            return Err(CliError::usage(
                ErrorKind::Usage,
                "--literal needs at least four characters: shorter texts occur everywhere",
                "give more of the text, or a --regex with its surroundings",
            ));
        }
    }
    let mut lines = Vec::new();
    for path in &args.literal_file {
        let text = text(path)?;
        let long = text.lines().map(str::trim).filter(|line| line.len() >= 4);
        lines.extend(long.map(str::to_owned));
    }
    let mut values = Vec::new();
    for path in &args.from {
        let file = dotenv_values(&text(path)?);
        values.extend(file.values);
        note_left_out(context, path, &file.left_out);
    }
    let literals = args.literal.iter().cloned().chain(lines);
    Ok(Scanner::new()
        .with_rules(rules)
        .with_values("literal", literals)
        .with_values("env-file", values)
        .with_base64(args.base64))
}

/// Names the values of an environment file that are not searched for.
fn note_left_out(context: &mut Context, path: &Path, names: &[String]) {
    if names.is_empty() {
        return;
    }
    let names: Vec<String> = names.iter().map(|name| clean(name)).collect();
    context.tell(&format!(
        "note: these values of `{}` do not look like secrets and are not searched for: {}. Give them with --literal if they are",
        path.display(),
        names.join(", ")
    ));
}

fn text(path: &Path) -> Result<String, CliError> {
    let bytes = fs_err::read(path).map_err(CliError::unreadable)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// Returns a command line without the values of options that name secrets.
pub(super) fn without_values(words: &[String]) -> Vec<String> {
    let mut out = Vec::with_capacity(words.len());
    let mut hide = false;
    for word in words {
        let option = SECRET_OPTIONS.iter().find(|o| word.starts_with(**o));
        if hide {
            out.push("[hidden]".to_owned());
            hide = false;
        } else if let Some(option) = option {
            let rest = &word[option.len()..];
            match rest.strip_prefix('=') {
                Some(_) => out.push(format!("{option}=[hidden]")),
                None => {
                    hide = rest.is_empty();
                    out.push(word.clone());
                }
            }
        } else {
            out.push(word.clone());
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn redact_keeps_given_values_out_of_the_journal() {
        let words = "x redact --literal abc --regex=d.* --literal-file f --in-place";
        let words: Vec<String> = words.split(' ').map(str::to_owned).collect();
        assert_eq!(
            without_values(&words).join(" "),
            "x redact --literal [hidden] --regex=[hidden] --literal-file f --in-place"
        );
    }
}

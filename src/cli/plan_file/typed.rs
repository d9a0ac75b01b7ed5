//! Operations that are typed as on the command line, as parts of a plan.

use clap::ArgAction;

use super::{Expected, OPERATIONS};

/// Returns an operation that was typed as on the command line, without a session, as a part of a plan.
pub(in crate::cli) fn typed_step(line: &str) -> Result<Vec<(String, toml::Value)>, String> {
    let words = split_words(line)?;
    let Some((name, options)) = words.split_first() else {
        return Err("no operation is named".to_owned());
    };
    // A graft needs another session, and a redaction searches other files too: both are commands of their own.
    let known = || {
        let others = ["graft", "redact"];
        OPERATIONS.iter().filter(move |o| !others.contains(&o.name))
    };
    let Some(operation) = known().find(|o| o.name == name) else {
        let known: Vec<&str> = known().map(|o| o.name).collect();
        return Err(format!(
            "there is no command `{name}`; these can be steps: {}",
            known.join(", ")
        ));
    };
    let command = (operation.arguments)(clap::Command::new(operation.name));
    let mut out = vec![("op".to_owned(), toml::Value::from(name.as_str()))];
    let mut options = options.iter();
    while let Some(word) = options.next() {
        let Some(option) = word.strip_prefix("--") else {
            return Err(format!("`{word}` is not an option; options begin with --"));
        };
        let (key, given) = match option.split_once('=') {
            Some((key, value)) => (key, Some(value.to_owned())),
            None => (option, None),
        };
        let arg = command.get_arguments().find(|a| a.get_long() == Some(key));
        let Some(arg) = arg else {
            return Err(format!("{name} has no option `--{key}`"));
        };
        let value = if matches!(arg.get_action(), ArgAction::SetTrue) {
            toml::Value::from(true)
        } else {
            let text = given.or_else(|| options.next().cloned());
            let text = text.ok_or_else(|| format!("`--{key}` needs a value"))?;
            match (Expected::of(arg), text.parse::<i64>()) {
                (Expected::Number, Ok(number)) => toml::Value::from(number),
                _ => toml::Value::from(text),
            }
        };
        push_value(&mut out, key, value);
    }
    Ok(out)
}

/// Adds the value of an option; values of an option that is repeated become a list.
fn push_value(out: &mut Vec<(String, toml::Value)>, key: &str, value: toml::Value) {
    match out.iter_mut().find(|(k, _)| k == key) {
        Some((_, toml::Value::Array(all))) => all.push(value),
        Some((_, first)) => *first = toml::Value::Array(vec![first.clone(), value]),
        None => out.push((key.to_owned(), value)),
    }
}

/// Splits a line into words; quotes keep blanks together.
fn split_words(line: &str) -> Result<Vec<String>, String> {
    let (mut words, mut quote, mut inside) = (Vec::new(), None, false);
    let mut word = String::new();
    for c in line.chars() {
        match quote {
            Some(q) if c == q => quote = None,
            None if c == '\'' || c == '"' => (quote, inside) = (Some(c), true),
            None if c.is_whitespace() => {
                if inside {
                    words.push(std::mem::take(&mut word));
                }
                inside = false;
            }
            _ => {
                inside = true;
                word.push(c);
            }
        }
    }
    if quote.is_some() {
        return Err("a quote is not closed".to_owned());
    }
    if inside {
        words.push(word);
    }
    Ok(words)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn typed_step_has_the_types_that_plans_ask_for() {
        let step = typed_step("drop-tools --tool Bash --tool='mcp__*' --stub --head 5").unwrap();
        let text: Vec<String> = step.iter().map(|(k, v)| format!("{k} = {v}")).collect();
        assert_eq!(
            text,
            [
                "op = \"drop-tools\"",
                "tool = [\"Bash\", \"mcp__*\"]",
                "stub = true",
                "head = 5"
            ]
        );
    }

    #[test]
    fn typed_step_names_its_mistakes() {
        let why = |line: &str| typed_step(line).expect_err("a mistake");
        assert!(why("nonsense").contains("no command `nonsense`"));
        assert!(why("delete 3").contains("not an option"));
        assert!(why("delete --nope 3").contains("no option `--nope`"));
        assert!(why("delete --turns").contains("needs a value"));
        assert!(why("delete --match 'x").contains("quote"));
    }
}

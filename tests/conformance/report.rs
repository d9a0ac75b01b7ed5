//! Writes the table of results: versions down, operations across, cells counted over scenarios.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::Path;

use anyhow::{Result, ensure};

use crate::cells::Form;
use crate::client::{VERSIONS, number};
use crate::operations::OPERATIONS;
use crate::results::{Kept, Key, Results};
use crate::seen::today;
use crate::{budget, matrix, repairs};

const HEAD: &str = "# Conformance

Real clients record sessions, `ccsurgery` operates on them, and the same clients resume the results. A cell passes only
if the model is then shown exactly what the operation promises, block by block, and the stand-in for the API had nothing
to refuse. [tests/conformance](tests/conformance/README.md) says how it is done and how to run it:

```sh
cargo test --test conformance -- all      # the whole matrix; can be broken off and taken up again
cargo test --test conformance -- report   # writes this page from what was found
```

Each cell runs the program that is named here. A client is asked again only where a result differs from one that it was asked
about before, but for fresh ids; else what it showed then is compared with what is promised now.

";

/// Counts of one field of the table.
#[derive(Default)]
struct Count {
    passed: usize,
    total: usize,
    notes: BTreeSet<usize>,
}

/// Footnotes in the order in which they are first needed.
#[derive(Default)]
struct Notes(Vec<String>);

impl Notes {
    fn number(&mut self, text: &str) -> usize {
        let at = self.0.iter().position(|n| n == text).unwrap_or_else(|| {
            self.0.push(text.to_owned());
            self.0.len() - 1
        });
        at + 1
    }
}

/// Writes `CONFORMANCE.md` from the results of this program.
pub(crate) fn write(program: &str) -> Result<()> {
    let results = Results::load(program)?;
    let (skipped, cells): (Vec<&Kept>, Vec<&Kept>) = results.current().partition(|k| k.skipped);
    ensure!(!cells.is_empty(), "this program has not been judged yet");
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("CONFORMANCE.md");
    fs_err::write(&path, page(&cells, skipped.len()))?;
    println!("{} cells in {}", cells.len(), path.display());
    Ok(())
}

fn page(cells: &[&Kept], skipped: usize) -> String {
    let mut out = HEAD.to_owned();
    let passed = cells.iter().filter(|k| k.passed).count();
    let all = matrix::size();
    let _ = writeln!(
        out,
        "On {}, with ccsurgery {}: {passed} of {} cells passed. Of the {all} cells of the whole matrix, {skipped} more found a \
         session that gives the operation no occasion, and {} were not run.\n",
        today(),
        env!("CARGO_PKG_VERSION"),
        cells.len(),
        all.saturating_sub(cells.len() + skipped)
    );
    out.push_str(
        "Fields are cells passed of cells run, one a scenario; columns are operations into a new session, and `in place` and\n\
         `undo` count all operations in that form. `a → b` was recorded by client a and resumed by client b. `–` was not run,\n\
         or had no occasion. Notes say what a client does wrong by itself.\n\n",
    );
    let mut notes = Notes::default();
    let columns: Vec<Column> = OPERATIONS
        .iter()
        .map(|o| Column::New(o.name))
        .chain([budget::NAME, repairs::ONE, repairs::MANY].map(Column::New))
        .chain([
            Column::Typed,
            Column::Form(Form::InPlace),
            Column::Form(Form::Undo),
        ])
        .collect();
    let names: Vec<&str> = columns.iter().map(Column::name).collect();
    let _ = writeln!(out, "| client | {} |", names.join(" | "));
    let _ = writeln!(out, "|---|{}", "---|".repeat(names.len()));
    for (row, of_row) in rows(cells) {
        let fields: Vec<String> = columns
            .iter()
            .map(|c| field(&of_row, c, &mut notes))
            .collect();
        let _ = writeln!(out, "| {row} | {} |", fields.join(" | "));
    }
    out.push_str("\n## Scenarios run\n\n");
    let mut scenarios: BTreeMap<&str, BTreeSet<Vec<u32>>> = BTreeMap::new();
    for kept in cells {
        scenarios
            .entry(&kept.key.scenario)
            .or_default()
            .insert(number(&kept.key.version));
    }
    for (name, versions) in scenarios {
        let versions: Vec<String> = versions.iter().map(|v| spelled(v)).collect();
        let _ = writeln!(out, "- {name}: {}", versions.join(", "));
    }
    if !notes.0.is_empty() {
        out.push_str("\n## Notes\n\n");
        for (n, note) in notes.0.iter().enumerate() {
            let _ = writeln!(out, "{}. {note}", n + 1);
        }
    }
    out
}

enum Column {
    New(&'static str),
    Typed,
    Form(Form),
}

impl Column {
    fn name(&self) -> &'static str {
        match self {
            Self::New(name) => name,
            Self::Typed => matrix::TYPED,
            Self::Form(Form::InPlace) => "in place",
            Self::Form(form) => form.name(),
        }
    }

    fn holds(&self, key: &Key) -> bool {
        match self {
            Self::New(name) => {
                key.operation == *name
                    || key.operation.starts_with("repair") && key.operation.starts_with(name)
            }
            Self::Typed => key.operation == matrix::TYPED,
            Self::Form(form) => key.operation.ends_with(form.suffix()),
        }
    }
}

/// Results by client, in the order of the versions.
fn rows<'a>(cells: &[&'a Kept]) -> Vec<(String, Vec<&'a Kept>)> {
    let mut out = Vec::new();
    for version in VERSIONS {
        for by in VERSIONS {
            let own: Vec<&Kept> = cells
                .iter()
                .copied()
                .filter(|k| k.key.version == *version && k.key.by == *by)
                .collect();
            if !own.is_empty() {
                let name = if version == by {
                    (*version).to_owned()
                } else {
                    format!("{version} → {by}")
                };
                out.push((name, own));
            }
        }
    }
    out
}

fn field(cells: &[&Kept], column: &Column, notes: &mut Notes) -> String {
    let mut count = Count::default();
    for kept in cells.iter().filter(|k| column.holds(&k.key)) {
        count.total += 1;
        count.passed += usize::from(kept.passed);
        for aside in &kept.asides {
            count.notes.insert(notes.number(aside));
        }
        if !kept.passed {
            let why = kept.why.lines().next().unwrap_or_default();
            let short: String = why.chars().take(200).collect();
            count
                .notes
                .insert(notes.number(&format!("`{}` failed: {short}", kept.key)));
        }
    }
    if count.total == 0 {
        return "–".to_owned();
    }
    let marks: Vec<String> = count.notes.iter().map(ToString::to_string).collect();
    if marks.is_empty() {
        format!("{}/{}", count.passed, count.total)
    } else {
        format!(
            "{}/{} <sup>{}</sup>",
            count.passed,
            count.total,
            marks.join(",")
        )
    }
}

fn spelled(version: &[u32]) -> String {
    let parts: Vec<String> = version.iter().map(ToString::to_string).collect();
    parts.join(".")
}

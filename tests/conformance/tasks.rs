//! What is done with a recorded session in a cell.

use crate::budget;
use crate::case::Case;
use crate::cells::{self, Form, Verdict};
use crate::operations::{OPERATIONS, Operation};
use crate::repairs::{self, INJURIES, Injury};

#[derive(Clone, Copy)]
pub(crate) enum Task {
    Operation(&'static Operation, Form),
    Repair(&'static Injury),
    Trim,
}

impl Task {
    /// All that is done with sessions of a scenario; `own` where the client that recorded it resumes.
    pub(crate) fn all(scenario: &str, own: bool) -> impl Iterator<Item = Self> {
        let operations = OPERATIONS
            .iter()
            .flat_map(|o| cells::forms(o).iter().map(move |f| Self::Operation(o, *f)));
        let repairs = INJURIES
            .iter()
            .filter(move |i| own && i.scenario == scenario)
            .map(Self::Repair);
        operations.chain(repairs).chain(own.then_some(Self::Trim))
    }

    /// The name of the cell.
    pub(crate) fn name(self) -> String {
        match self {
            Self::Operation(operation, form) => format!("{}{}", operation.name, form.suffix()),
            Self::Repair(injury) => injury.name.clone(),
            Self::Trim => budget::NAME.to_owned(),
        }
    }

    /// The column of the table, by which a run is narrowed.
    pub(crate) fn column(self) -> &'static str {
        match self {
            Self::Operation(operation, _) => operation.name,
            Self::Repair(injury) if injury.name.starts_with(repairs::ONE) => repairs::ONE,
            Self::Repair(_) => repairs::MANY,
            Self::Trim => budget::NAME,
        }
    }

    /// The form in which it is done.
    pub(crate) fn form(self) -> Form {
        match self {
            Self::Operation(_, form) => form,
            Self::Repair(_) | Self::Trim => Form::New,
        }
    }

    /// Judges the cell; `show` prints what the model is shown.
    ///
    /// What fails by what was remembered is asked anew: clients tell the model the date, and one that was short of time
    /// may have asked twice.
    pub(crate) fn judge(self, case: &Case, show: bool) -> Verdict {
        let verdict = self.judge_once(case, show);
        match verdict {
            Verdict::Failed(_) if case.has_recalled() => match case.afresh() {
                Ok(case) => self.judge_once(&case, show),
                Err(error) => Verdict::Failed(format!("{error:#}")),
            },
            verdict => verdict,
        }
    }

    fn judge_once(self, case: &Case, show: bool) -> Verdict {
        match self {
            Self::Operation(operation, form) => cells::judge(case, operation, form, show),
            Self::Repair(injury) => repairs::judge(case, injury, show),
            Self::Trim => budget::judge(case, show),
        }
    }
}

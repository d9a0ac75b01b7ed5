//! What an operation is: something that looks at a session and makes a plan.

use crate::session::Session;

use super::plan::Plan;
use super::refusal::Refusal;

/// An operation: it looks at a session and makes a plan.
pub trait Transform {
    /// The operation's name, as on the command line.
    fn name(&self) -> &'static str;

    /// How far the operation may change what the model is shown, beyond what its plan removes and hides.
    fn reach(&self) -> Reach {
        Reach::Narrows
    }

    /// Decides what is removed and edited. The resolver chooses the parents. `detail` determines how much
    /// of it the plan describes; small plans ignore it and list every change.
    fn plan(&self, session: &Session, detail: Detail) -> Result<Plan, Refusal>;
}

/// How far a transform may change what the model is shown, beyond what its plan removes and hides.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reach {
    /// Not at all.
    Narrows,
    /// It may show entries that were hidden, including faulty ones.
    Reveals,
    /// It may make another path or another order the conversation, because the present one is broken.
    Rearranges,
}

impl<T: Transform + ?Sized> Transform for &T {
    fn name(&self) -> &'static str {
        (**self).name()
    }

    fn reach(&self) -> Reach {
        (**self).reach()
    }

    fn plan(&self, session: &Session, detail: Detail) -> Result<Plan, Refusal> {
        (**self).plan(session, detail)
    }
}

/// How much a plan describes of what it does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Detail {
    /// Every change.
    #[default]
    Full,
    /// What people are shown: if there are many, changes of one kind in a turn are joined.
    Grouped,
    /// Nothing: only the result is needed.
    None,
}

//! Mends what the doctor finds, in passes: each sees the session as the one before it left it.

mod calls;
mod compaction;
mod content;
mod edit;
mod heads;
mod images;
mod leaf;
mod linearize;
mod lines;
mod parents;
mod sessions;
mod text;
mod uuids;

use std::rc::Rc;

use crate::doctor::Check;
use crate::surgery::Transform;

/// What is mended, and how boldly.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct RepairOptions {
    /// The checks whose findings are mended; all if empty.
    pub only: Vec<&'static str>,
    /// Whether to take the likelier of two candidates.
    pub accept_guess: bool,
    /// Whether results of parallel calls are put in one chain.
    pub linearize: bool,
    /// Whether answers that are API errors go: only the oldest clients show them to the model.
    pub drop_errors: bool,
    /// Whether references to tools become notes: only the oldest clients send those to tools that are gone.
    pub drop_references: bool,
}

impl RepairOptions {
    fn wants(&self, check: &Check) -> bool {
        self.only.is_empty() || self.only.contains(&check.name)
    }
}

/// The passes of a repair, in order: first what hides entries, then what is wrong with them.
pub fn passes(options: &RepairOptions) -> Vec<Box<dyn Transform>> {
    let options = Rc::new(options.clone());
    // What one mends may bring another to light; a second round finds nothing but that.
    let mut all = round(&options);
    all.extend(round(&options));
    all
}

fn round(options: &Rc<RepairOptions>) -> Vec<Box<dyn Transform>> {
    let mut passes: Vec<Box<dyn Transform>> = vec![
        Box::new(lines::Lines(Rc::clone(options))),
        Box::new(uuids::Uuids(Rc::clone(options))),
        Box::new(compaction::Boundaries(Rc::clone(options))),
        Box::new(parents::Parents(Rc::clone(options))),
        Box::new(compaction::Compaction(Rc::clone(options))),
        Box::new(leaf::Leaf(Rc::clone(options))),
        Box::new(text::Text(Rc::clone(options))),
        Box::new(calls::Ids(Rc::clone(options))),
        Box::new(calls::Order(Rc::clone(options))),
        Box::new(calls::Strays(Rc::clone(options))),
        Box::new(content::Content(Rc::clone(options))),
        // What went may have left a message empty, or thinking alone.
        Box::new(content::Content(Rc::clone(options))),
        Box::new(calls::Results(Rc::clone(options))),
        Box::new(heads::Heads(Rc::clone(options))),
    ];
    passes.push(Box::new(sessions::Sessions(Rc::clone(options))));
    if options.linearize {
        passes.push(Box::new(linearize::Linearize));
    }
    passes.push(Box::new(leaf::Leaf(Rc::clone(options))));
    passes
}

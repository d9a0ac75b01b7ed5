//! The plans that the model made for the person.

use super::account::Account;
use super::calls::Made;
use super::layout::{Item, Section};
use super::text::without_headings;

/// What comes before an approved plan in the result, where newer clients repeat it: the person may have edited it.
const APPROVED: &str = "\n## Approved Plan";

/// The heading above the plans that the person approved.
pub(super) const HEADING: &str = "Plans that the user approved";

/// A plan that was shown to the person.
pub(super) struct PlanShown {
    turn: u32,
    text: String,
    approved: bool,
}

impl PlanShown {
    /// The bytes that it takes about in a digest that quotes it in full.
    pub(super) fn quoted(&self) -> usize {
        if self.approved {
            self.text.len() + self.text.lines().count() * 2 + 20
        } else {
            0
        }
    }
}

impl Account {
    /// Adds a plan. One that is shown again replaces the earlier one.
    pub(super) fn add_plan(&mut self, turn: u32, text: String, approved: bool) {
        self.plans.retain(|plan| plan.text != text);
        self.plans.push(PlanShown {
            turn,
            text,
            approved,
        });
    }

    /// Whether the person's own words contain a plan, as after a plan that is carried out in a new session.
    fn quotes(&self, plan: &PlanShown) -> bool {
        let text = plan.text.trim();
        self.words
            .iter()
            .any(|(_, words)| words.text().contains(text))
    }
}

/// Returns the plan of a call that shows it to the person.
pub(super) fn plan_of(made: &Made<'_>) -> Option<String> {
    let repeated = made.result().split_once(APPROVED);
    let repeated = repeated.and_then(|(_, rest)| Some(rest.split_once('\n')?.1));
    let plan = repeated
        .map(|plan| plan.trim().to_owned())
        .or_else(|| made.input("plan"))?;
    Some(plan).filter(|plan| !plan.is_empty())
}

/// The last plan, and whether the person approved it.
pub(super) fn section(account: &Account, whole: bool) -> Section {
    let last = account.plans.last().filter(|plan| !account.quotes(plan));
    // What the person approved is quoted elsewhere then.
    let last = last.filter(|plan| !(whole && plan.approved));
    let item = last.map(|plan| {
        let state = if plan.approved {
            "Approved by the user"
        } else {
            "Not approved"
        };
        Item::new(format!("{state}: {}", without_headings(&plan.text)), 1, 0)
    });
    Section {
        heading: "The last plan",
        share: 12,
        floor: 200,
        items: item.into_iter().collect(),
        ..Section::default()
    }
}

/// All plans that the person approved, in full.
pub(super) fn approved(account: &Account) -> Section {
    let plans = account.plans.iter();
    let plans = plans.filter(|plan| plan.approved && !account.quotes(plan));
    let items = plans.map(|plan| Item::new(format!("Turn {}: {}", plan.turn, plan.text), 1, 0));
    let earlier = account.earlier_plans.iter();
    let earlier = earlier.map(|text| Item::new(text.clone(), 1, 0));
    Section {
        heading: HEADING,
        whole: true,
        items: earlier.chain(items).collect(),
        ..Section::default()
    }
}

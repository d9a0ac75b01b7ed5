//! The last plan that the model made for the person.

use super::account::Account;
use super::layout::{Item, Section};
use super::text::without_headings;

/// The last plan, and whether the person approved it.
pub(super) fn section(account: &Account) -> Section {
    let item = account.plan.as_ref().map(|(plan, approved)| {
        let state = if *approved {
            "Approved by the user"
        } else {
            "Not approved"
        };
        Item::new(format!("{state}: {}", without_headings(plan)), 1, 0)
    });
    Section {
        heading: "The last plan",
        share: 12,
        floor: 200,
        cut_ends: false,
        essential: false,
        items: item.into_iter().collect(),
    }
}

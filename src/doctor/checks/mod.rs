//! The checks, by family.

pub(crate) mod bloat;
pub(crate) mod calls;
pub(crate) mod chain;
pub(crate) mod compaction;
pub(crate) mod content;
pub(crate) mod lines;
mod place;
pub(crate) mod thinking;

use rayon::prelude::*;

use crate::session::Session;

use super::check::{Check, Gate, Survey};
use super::finding::Finding;
use super::version::Version;

pub use place::{Surroundings, look_around};

/// Every check of a transcript.
pub static CHECKS: &[&Check] = &[
    &lines::glued_records::CHECK,
    &lines::torn_line::CHECK,
    &lines::bad_escape::CHECK,
    &lines::nul_run::CHECK,
    &lines::byte_order_mark::CHECK,
    &lines::invalid_utf8::CHECK,
    &lines::open_end::CHECK,
    &lines::huge_line::CHECK,
    &chain::duplicate_uuid::CHECK,
    &chain::cycle::CHECK,
    &chain::dangling_parent::CHECK,
    &chain::cut_root::CHECK,
    &chain::headless::CHECK,
    &chain::wrong_leaf::CHECK,
    &chain::foreign_entries::CHECK,
    &chain::parallel_results::CHECK,
    &compaction::stale_last_prompt::CHECK,
    &compaction::boundary_last::CHECK,
    &compaction::no_metadata::CHECK,
    &compaction::lost_boundary::CHECK,
    &compaction::lost_preserved::CHECK,
    &compaction::lost_logical_parent::CHECK,
    &calls::repeated_call::CHECK,
    &calls::repeated_result::CHECK,
    &calls::result_before_call::CHECK,
    &calls::stray_result::CHECK,
    &calls::unanswered_call::CHECK,
    &calls::unfinished_call::CHECK,
    &calls::split_server_result::CHECK,
    &calls::tool_reference::CHECK,
    &thinking::unsigned::CHECK,
    &thinking::adjacent::CHECK,
    &thinking::alone::CHECK,
    &thinking::missing::CHECK,
    &content::string_answer::CHECK,
    &content::blank_text::CHECK,
    &content::empty_content::CHECK,
    &content::lone_surrogate::CHECK,
    &content::nul_in_text::CHECK,
    &content::not_an_image::CHECK,
    &content::large_image::CHECK,
    &content::bad_document::CHECK,
    &content::large_request::CHECK,
    &content::replayed_error::CHECK,
    &bloat::CHECK,
];

/// Every check, those of files and folders included.
pub fn all_checks() -> impl Iterator<Item = &'static Check> {
    CHECKS.iter().chain(place::CHECKS).copied()
}

/// Finds a check by its name.
pub fn find_check(name: &str) -> Option<&'static Check> {
    all_checks().find(|c| c.name == name)
}

/// Returns the findings that no operation may add to. The verifier compares them before and after.
pub fn examine(session: &Session) -> Vec<Finding> {
    run(session, |c| c.gate == Gate::Judged)
}

/// Returns everything that is wrong with a transcript. What other clients write every day is left out
/// unless `client` suffers from it.
pub fn diagnose(session: &Session, client: Version) -> Vec<Finding> {
    run(session, |c| {
        c.gate != Gate::JudgedForVersion || c.suffers.contains(client)
    })
}

fn run(session: &Session, wanted: impl Fn(&Check) -> bool + Sync) -> Vec<Finding> {
    let survey = Survey::new(session);
    let mut findings: Vec<Finding> = CHECKS
        .par_iter()
        .filter(|c| wanted(c))
        .flat_map_iter(|c| {
            let mut found = Vec::new();
            (c.run)(&survey, &mut found);
            found
        })
        .collect();
    // The sort is stable: findings of one line stay in the order of the checks.
    findings.sort_by_key(|f| f.line);
    findings
}

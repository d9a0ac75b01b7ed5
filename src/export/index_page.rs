//! The page that lists several exported sessions.

use maud::html;

use crate::human::{count, tokens};
use crate::view::SessionText;

use super::ansi::plain_text;
use super::page::{beginning, document};
use super::redactor::Redactor;

/// An exported session in the list.
#[derive(Debug, Clone)]
pub struct IndexRow {
    /// The name of its file, beside the list.
    pub file: String,
    /// Its title.
    pub title: SessionText,
    /// When it began.
    pub time: Option<String>,
    /// How many turns it has.
    pub turns: u64,
    /// Tokens in its context window.
    pub tokens: u64,
}

/// Returns a page with links to exported sessions.
pub fn index_page(rows: &[IndexRow], redactor: &Redactor) -> String {
    let body = html! {
        header { h1 { "Sessions" } }
        main id="conversation" {
            div.scroll tabindex="0" { table {
                tr { th scope="col" { "Session" } th scope="col" { "Began" } th.r scope="col" { "Turns" } th.r scope="col" { "Tokens" } }
                @for row in rows {
                    tr {
                        td { a href=(row.file) { (beginning(&plain_text(&redactor.text(&row.title)))) } }
                        td { (row.time.as_deref().map(super::html_items::short_time).unwrap_or_default()) }
                        td.r { (count(row.turns)) }
                        td.r { (tokens(row.tokens)) }
                    }
                }
            } }
        }
        footer { p { (redactor.summary()) } p { "Made with ccsurgery." } }
    };
    document("Sessions", body).into_string()
}

//! The transforms: what each promises, held on made-up sessions, on recorded ones, and as a person meets it.

mod compact;
mod compact_in_turn;
mod generate;
mod judge;
mod plans;
mod previews;
mod properties;
mod recorded;
mod refusals;
mod undo;
mod weather;

//! Repairs of lines that are not one record each.

pub(super) mod byte_order_mark;
pub(super) mod invalid_utf8;
pub(super) mod open_end;
mod torn;
mod torn_prompt;
mod torn_result;
pub(super) mod unreadable;

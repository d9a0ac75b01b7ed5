//! Checks of content that the API refuses.

pub(crate) mod bad_document;
pub(crate) mod blank_text;
pub(crate) mod empty_content;
pub(crate) mod escapes;
pub(crate) mod large_image;
pub(crate) mod large_request;
pub(crate) mod lone_surrogate;
pub(crate) mod media;
pub(crate) mod not_an_image;
pub(crate) mod nul_in_text;
pub(crate) mod replayed_error;
pub(crate) mod string_answer;

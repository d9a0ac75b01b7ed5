//! Lossless surgery on Claude Code session files.

#[cfg(feature = "cli")]
pub mod cli;
pub mod doctor;
pub mod document;
pub mod human;
pub mod json;
pub mod ops;
pub mod render;
pub mod secrets;
pub mod session;
pub mod store;
pub mod surgery;
mod threads;
pub mod transcript;
pub mod view;
pub mod window;

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

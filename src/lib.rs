//! Lossless surgery on Claude Code session files.
//!
//! Bytes become a [`jsonl::Document`], which emits the same bytes again; a [`session::Session`] knows what
//! its lines mean; a [`rewrite::Transform`] makes a [`rewrite::Plan`] of what goes and what changes, which
//! is data until it is carried out; [`rewrite::verify`] judges the result. Only [`store`] writes files.

pub mod cli;
pub mod doctor;
pub mod human;
pub mod jsonl;
pub mod ops;
pub mod render;
pub mod rewrite;
pub mod session;
pub mod store;
mod threads;

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

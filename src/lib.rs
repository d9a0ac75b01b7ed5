//! Lossless surgery on Claude Code session files.
//!
//! A session of Claude Code is a file of JSON lines. This library reads any such file, changes exactly what it is asked to
//! change, and leaves every other byte as it was. The command-line program `ccsurgery` is a thin layer over it.
//!
//! Every change takes the same way. [`Surgery`] carries out one or more operations of [`ops`]; the result is
//! [`Operated`], which can be looked at but not written; [`Operated::verify`] judges it; and only what is [`Verified`]
//! can be written, by [`store::Sessions`], which keeps the old bytes so that everything can be undone.
//!
//! ```
//! use ccsurgery::{Session, Surgery, ops::{StripThinking, Truncate}};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let session = Session::from_bytes(include_bytes!("../fixtures/demo.jsonl").to_vec());
//! let operated = Surgery::on(session)
//!     .then(StripThinking::default())
//!     .then(Truncate { at: 3.into() })
//!     .operate()?;
//! let (before, after) = operated.figures();
//! println!("{} turns become {}", before.turns, after.turns);
//! let bytes = operated.verify()?.to_vec();
//! # assert_eq!(Session::from_bytes(bytes).turns().len(), 3);
//! # Ok(())
//! # }
//! ```
//!
//! An operation may decline. A [`Refusal`] says why, and what can be done instead:
//!
//! ```
//! use ccsurgery::{Session, Surgery, SurgeryError, ops::Truncate};
//!
//! let session = Session::from_bytes(include_bytes!("../fixtures/demo.jsonl").to_vec());
//! match Surgery::on(session).then(Truncate { at: 99.into() }).operate() {
//!     Err(SurgeryError::Refused(refusal)) => println!("{refusal}"),
//!     _ => unreachable!("the session has four turns"),
//! }
//! ```
//!
//! [`doctor::examine`] finds what is wrong with a session, [`window::payload`] builds the messages that the model would be
//! shown, and [`view`] holds what people want to see of a session as serializable data.
//!
//! # Limitations
//!
//! - A transcript is read as a whole; there is no reading by parts. Files of 1 MiB and more are mapped, not copied.
//! - What the model is shown is worked out as the newest known client does it; older clients differ in details.
//! - Numbers of tokens are estimates, calibrated on the usage that the session recorded.
//! - A result is always a transcript of the same client version; nothing is converted between versions.
//!
//! # Features
//!
//! `cli` (on by default) adds the command line and its dependencies. Without it, this is only the library.

#[cfg(feature = "cli")]
#[doc(hidden)]
pub mod cli;
pub mod doctor;
pub mod document;
#[cfg(feature = "export")]
pub mod export;
#[doc(hidden)]
pub mod human;
#[doc(hidden)]
pub mod json;
pub mod ops;
pub mod render;
pub mod secrets;
pub mod session;
pub mod store;
pub mod surgery;
mod threads;
pub mod transcript;
#[doc(hidden)]
pub mod typed_index;
#[cfg(feature = "ui")]
#[doc(hidden)]
pub mod ui;
pub mod view;
pub mod window;

pub use document::Document;
pub use session::Session;
pub use surgery::{Fault, Operated, Plan, Refusal, Surgery, SurgeryError, Transform, Verified};

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

//! The commands that look and do not touch, run as a person would.

mod diff;
mod home;
mod inspect;
mod ls;
mod payload;
mod recorded;
mod show;

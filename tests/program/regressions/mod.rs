//! Defects that were found once, each as a test of what a user relies on, by the folder of `src/` that was at fault.

mod cli;
mod digest;
mod doctor;
mod ops;
#[cfg(unix)]
mod reading;
mod render;
mod second_copies;
mod store;
mod surgery;
mod window;

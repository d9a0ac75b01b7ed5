//! The repository itself: imports go one way, and the documents name what exists.

mod architecture;
mod documentation;

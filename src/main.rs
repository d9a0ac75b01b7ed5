//! The `ccsurgery` program. Its code is in the library.

use std::process::ExitCode;

fn main() -> ExitCode {
    ccsurgery::cli::main()
}

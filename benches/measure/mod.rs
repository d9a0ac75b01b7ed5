//! Runs programs, and measures how long they take and how much memory they hold.

use std::io;
use std::process::{Child, Command, ExitStatus};
use std::time::Duration;

/// What takes longer is ended.
const LIMIT: Duration = Duration::from_secs(120);

/// Waits for a program, asleep: polling would take time from the program that is measured. `None` if it was ended.
pub(crate) fn wait(mut child: Child) -> io::Result<Option<ExitStatus>> {
    let pid = child.id().to_string();
    let (send, ended) = std::sync::mpsc::channel();
    let waiting = std::thread::spawn(move || send.send(child.wait()));
    let status = ended.recv_timeout(LIMIT);
    if status.is_err() {
        Command::new("kill").args(["-9", &pid]).status()?;
    }
    let _ = waiting.join();
    status.ok().transpose()
}

/// Runs a program and returns the most anonymous memory that it was seen to hold, where the system shows it.
pub(crate) fn peak_memory(mut command: Command) -> io::Result<Option<u64>> {
    let mut child = command.spawn()?;
    let status = format!("/proc/{}/status", child.id());
    let mut peak = None;
    while child.try_wait()?.is_none() {
        let anonymous = std::fs::read_to_string(&status).ok().and_then(|text| {
            let line = text.lines().find(|l| l.starts_with("RssAnon:"))?;
            line.split_whitespace().nth(1)?.parse::<u64>().ok()
        });
        peak = peak.max(anonymous.map(|kb| kb << 10));
        std::thread::sleep(Duration::from_micros(500));
    }
    Ok(peak)
}

/// Returns the median.
pub(crate) fn median(times: &[Duration]) -> Option<Duration> {
    let mut sorted = times.to_vec();
    sorted.sort();
    sorted.get(sorted.len() / 2).copied()
}

/// Reads a size such as `70M` or `1G`.
pub(crate) fn size(text: &str) -> io::Result<u64> {
    let unit = text.trim_start_matches(|c: char| c.is_ascii_digit());
    let number = text[..text.len() - unit.len()].parse::<u64>();
    let shift = match unit {
        "M" => 20,
        "G" => 30,
        _ => {
            let message = format!("{text}: a size is like 70M or 1G");
            return Err(io::Error::other(message));
        }
    };
    Ok(number.map_err(io::Error::other)? << shift)
}

//! The shell that a person types in: how words are quoted for it, and how a command line is run.

use std::io;
use std::path::Path;
use std::process::Command;

/// A shell, as far as commands are written differently for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Shell {
    /// `sh` and those like it; also the Bash that comes with Git for Windows.
    Posix,
    /// PowerShell.
    Pwsh,
    /// The command prompt of Windows.
    Cmd,
}

impl Shell {
    /// Returns the shell that started this program, as far as variables tell.
    pub(super) fn current() -> Self {
        Self::of(cfg!(windows), |name| std::env::var(name).ok())
    }

    fn of(is_windows: bool, variable: impl Fn(&str) -> Option<String>) -> Self {
        let set = |name: &str| variable(name).is_some_and(|value| !value.is_empty());
        if !is_windows || set("MSYSTEM") || set("SHELL") {
            return Self::Posix;
        }
        // Every program has folders of modules for all users there; PowerShell adds the person's own.
        let home = variable("USERPROFILE").unwrap_or_default();
        let modules = variable("PSModulePath").unwrap_or_default();
        if !home.is_empty() && modules.to_lowercase().contains(&home.to_lowercase()) {
            return Self::Pwsh;
        }
        Self::Cmd
    }

    /// Quotes a word where it needs that.
    pub(super) fn quoted(self, word: &str) -> String {
        let others = match self {
            Self::Posix => "/._-+:@%,=",
            Self::Pwsh => r"/\._-+:=",
            Self::Cmd => r"/\._-+:@",
        };
        let is_plain = |c: char| c.is_ascii_alphanumeric() || others.contains(c);
        if !word.is_empty() && word.chars().all(is_plain) {
            return word.to_owned();
        }
        match self {
            Self::Posix => format!("'{}'", word.replace('\'', r"'\''")),
            Self::Pwsh => format!("'{}'", word.replace('\'', "''")),
            Self::Cmd => format!("\"{}\"", word.replace('"', "\"\"")),
        }
    }

    /// Returns the line that changes to a folder and runs a command there.
    pub(super) fn in_folder(self, folder: &str, command: &str) -> String {
        let folder = self.quoted(folder);
        match self {
            Self::Posix => format!("cd {folder} && {command}"),
            // Older versions of PowerShell have no `&&`.
            Self::Pwsh => format!("cd {folder}; {command}"),
            Self::Cmd => format!("cd /d {folder} && {command}"),
        }
    }
}

/// Quotes a word for the person's shell where it needs that.
pub(super) fn quoted(word: &str) -> String {
    Shell::current().quoted(word)
}

/// Returns the command that runs a line in the system's shell, with a file as its last argument if one is given.
#[cfg(not(windows))]
pub(super) fn run_line(line: &str, file: Option<&Path>) -> Command {
    let mut command = Command::new("sh");
    command.arg("-c");
    match file {
        Some(file) => command.arg(format!("{line} \"$@\"")).arg("sh").arg(file),
        None => command.arg(line),
    };
    command
}

/// Returns the command that runs a line in the system's shell, with a file as its last argument if one is given.
///
/// The shell gets the line as it is: it does not read what programs usually quote.
#[cfg(windows)]
pub(super) fn run_line(line: &str, file: Option<&Path>) -> Command {
    use std::os::windows::process::CommandExt as _;
    let file = file.map(|f| format!(" \"{}\"", f.display()));
    let mut command = Command::new("cmd");
    command.raw_arg(format!("/S /C \"{line}{}\"", file.unwrap_or_default()));
    command
}

/// Replaces this process with a command; returns why that did not work.
#[cfg(unix)]
pub(super) fn replace_process(command: &mut Command) -> io::Error {
    use std::os::unix::process::CommandExt as _;
    command.exec()
}

/// Runs a command and ends this process with its code, where a process cannot be replaced; returns why that did not work.
#[cfg(not(unix))]
pub(super) fn replace_process(command: &mut Command) -> io::Error {
    match command.status() {
        Ok(status) => std::process::exit(status.code().unwrap_or(1)),
        Err(error) => error,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shell(variables: &[(&str, &str)]) -> Shell {
        Shell::of(true, |name| {
            let found = variables.iter().find(|(n, _)| *n == name);
            found.map(|(_, value)| (*value).to_owned())
        })
    }

    #[test]
    fn shell_of_windows_is_told_by_variables() {
        let all = r"C:\Program Files\WindowsPowerShell\Modules";
        let own = r"c:\users\me\Documents\PowerShell\Modules;C:\Program Files\PowerShell";
        let home = ("USERPROFILE", r"C:\Users\me");
        assert_eq!(shell(&[home, ("PSModulePath", all)]), Shell::Cmd);
        assert_eq!(shell(&[home, ("PSModulePath", own)]), Shell::Pwsh);
        assert_eq!(shell(&[home, ("MSYSTEM", "MINGW64")]), Shell::Posix);
        assert_eq!(shell(&[]), Shell::Cmd);
        assert_eq!(Shell::of(false, |_| None), Shell::Posix);
    }

    #[test]
    fn shell_quotes_what_it_would_read() {
        let folder = r"C:\my code\it's";
        let line = |shell: Shell| shell.in_folder(folder, "claude --resume s1");
        assert_eq!(
            line(Shell::Pwsh),
            r"cd 'C:\my code\it''s'; claude --resume s1"
        );
        assert_eq!(
            line(Shell::Cmd),
            "cd /d \"C:\\my code\\it's\" && claude --resume s1"
        );
        assert_eq!(
            line(Shell::Posix),
            r"cd 'C:\my code\it'\''s' && claude --resume s1"
        );
        for shell in [Shell::Posix, Shell::Pwsh, Shell::Cmd] {
            assert_eq!(shell.quoted("5e55-1000"), "5e55-1000");
            assert_ne!(shell.quoted("a;b&c"), "a;b&c");
            assert_ne!(shell.quoted(""), "");
        }
        assert_eq!(Shell::Cmd.quoted(r"C:\code"), r"C:\code");
    }
}

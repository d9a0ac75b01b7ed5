//! How things look: colours, widths, and the presenter that cleans and masks text.

use std::path::PathBuf;
use std::time::SystemTime;

use ratatui::style::{Color, Modifier, Style};

use crate::render::{LocalZone, Presenter, Screen};

/// What the drawing needs to know of the world.
#[derive(Debug, Clone)]
pub struct Look {
    /// Cleans and masks text of sessions.
    pub presenter: Presenter,
    /// Whether colours are used; without them, bold, dim and reversed text carry the meaning.
    pub colours: bool,
    /// The home folder, to shorten paths.
    pub home: Option<PathBuf>,
    /// The time to which ages refer.
    pub now: SystemTime,
    /// The zone in which times are shown.
    pub zone: LocalZone,
}

impl Look {
    /// Returns the screen for text that is this wide.
    pub fn screen(&self, columns: usize) -> Screen<'_> {
        Screen {
            presenter: self.presenter,
            columns,
            table_columns: columns,
            home: self.home.as_deref(),
            now: self.now,
            zone: Some(&self.zone),
            colours: self.colours,
            links: false,
            is_pipe: false,
        }
    }

    fn coloured(&self, colour: Color, otherwise: Modifier) -> Style {
        if self.colours {
            Style::new().fg(colour)
        } else {
            Style::new().add_modifier(otherwise)
        }
    }

    /// Something that goes away.
    pub fn removed(&self) -> Style {
        self.coloured(Color::Red, Modifier::CROSSED_OUT)
    }

    /// Something that changes.
    pub fn changed(&self) -> Style {
        self.coloured(Color::Yellow, Modifier::BOLD)
    }

    /// Something good: what is saved, a prompt of a person.
    pub fn good(&self) -> Style {
        self.coloured(Color::Green, Modifier::BOLD)
    }

    /// A failure.
    pub fn bad(&self) -> Style {
        self.coloured(Color::Red, Modifier::BOLD)
    }

    /// A name: of a tool, of a key.
    pub fn name(&self) -> Style {
        self.coloured(Color::Cyan, Modifier::BOLD)
    }

    /// What matters less.
    pub fn faint(&self) -> Style {
        Style::new().add_modifier(Modifier::DIM)
    }

    /// What matters most.
    pub fn strong(&self) -> Style {
        Style::new().add_modifier(Modifier::BOLD)
    }

    /// The row under the cursor. Dim text would be hard to read there.
    pub fn cursor(&self) -> Style {
        let style = Style::new().add_modifier(Modifier::REVERSED);
        style.remove_modifier(Modifier::DIM)
    }

    /// A bar, by the share of the context window that it stands for.
    pub fn heat(&self, share: f64) -> Style {
        match share {
            s if s >= 0.05 => self.coloured(Color::Red, Modifier::BOLD),
            s if s >= 0.02 => self.coloured(Color::Yellow, Modifier::empty()),
            _ => self.coloured(Color::Green, Modifier::DIM),
        }
    }

    /// How full a context window is.
    pub fn fullness(&self, tokens: u64, limit: u64) -> Style {
        match tokens * 100 / limit.max(1) {
            90.. => self.bad(),
            75.. => self.changed(),
            _ => self.good(),
        }
    }
}

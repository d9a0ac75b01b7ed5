//! What a person waits for in the terminal interface: `cargo bench --bench ui`, `-- 1073741824` for another size in bytes.

#![allow(missing_docs, clippy::print_stdout, clippy::disallowed_methods)]

#[allow(dead_code)]
mod session;

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};

use ccsurgery::Session;
use ccsurgery::render::{LocalZone, Presenter};
use ccsurgery::ui::{App, Effect, Event, Host, Look, Made, Plan, Step, Totals, Tree, carry_out};
use ccsurgery::view::{Conversation, SessionRow};
use ratatui::Terminal;
use ratatui::backend::TestBackend;
use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use session::Shape;

/// The size of the session in bytes, if none is given.
const SIZE: u64 = 70 << 20;

/// Keys as a person presses them: moving, unfolding, marking, taking back.
const KEYS: &str = "kkkklljjjjdjojtjvjjduGkkd[[]]xuUhhggLjjjjjjjjjjddHG";

/// Reads sessions, and does nothing else.
struct Reader;

fn nothing<T>() -> Result<T, String> {
    Err("not part of the benchmark".to_owned())
}

impl Host for Reader {
    fn list(&self, _: bool) -> Result<Vec<SessionRow>, String> {
        nothing()
    }
    fn open(&self, path: &Path) -> Result<Tree, String> {
        let session = Session::open(path).map_err(|e| e.to_string())?;
        let id = session::ID.to_owned();
        Ok(Tree::of(Arc::new(session), path.to_owned(), id, Vec::new()))
    }
    fn agent(&self, _: &Tree, _: &str) -> Result<Conversation, String> {
        nothing()
    }
    fn forecast(&self, _: &Tree, _: &Plan) -> Result<Totals, String> {
        nothing()
    }
    fn parse(&self, _: &str) -> Result<Step, String> {
        nothing()
    }
    fn save(&self, _: &str, _: &str) -> Result<String, String> {
        nothing()
    }
    fn preview(&self, _: &Tree, _: &Plan, _: usize) -> Result<(String, bool), String> {
        nothing()
    }
    fn apply(&self, _: &Tree, _: &Plan, _: bool) -> Result<Made, String> {
        nothing()
    }
    fn undo(&self, _: &str) -> Result<String, String> {
        nothing()
    }
    fn edit(&self, _: &str) -> Result<String, String> {
        nothing()
    }
}

fn look() -> Look {
    Look {
        presenter: Presenter::default(),
        colours: true,
        home: None,
        now: SystemTime::now(),
        zone: LocalZone::new(jiff::tz::TimeZone::system),
    }
}

fn main() {
    let given = std::env::args().skip(1).find_map(|word| word.parse().ok());
    let size = given.unwrap_or(SIZE);
    let folder = tempfile::tempdir().expect("a folder");
    let path = session::write(folder.path(), Shape::Mixed, size).expect("a session");
    let mut app = App::new(look(), (120, 40));
    let mut terminal = Terminal::new(TestBackend::new(120, 40)).expect("a screen");

    let begun = Instant::now();
    let effects = app.open(path, "benchmark", size);
    terminal.draw(|frame| app.draw(frame)).expect("a screen");
    let first = begun.elapsed();
    for effect in effects {
        if let Some(event) = carry_out(effect, None, &Reader, &look()) {
            drop(app.update(event));
        }
    }
    terminal.draw(|frame| app.draw(frame)).expect("a screen");
    let tree = begun.elapsed();

    let (mut keys, mut contents) = (Vec::new(), Vec::new());
    for key in KEYS.chars().cycle().take(10 * KEYS.len()) {
        let key = KeyEvent::new(KeyCode::Char(key), KeyModifiers::NONE);
        let begun = Instant::now();
        let effects = app.update(Event::Key(key));
        terminal.draw(|frame| app.draw(frame)).expect("a screen");
        keys.push(begun.elapsed());
        let open = app.table.as_ref().map(|t| Arc::clone(&t.tree));
        for effect in effects
            .into_iter()
            .filter(|e| matches!(e, Effect::Read(..)))
        {
            let begun = Instant::now();
            if let Some(event) = carry_out(effect, open.as_ref(), &Reader, &look()) {
                drop(app.update(event));
            }
            contents.push(begun.elapsed());
        }
    }
    println!("session            {} MB", size >> 20);
    println!("first screen       {first:?}");
    println!("tree on the screen {tree:?}");
    report("key to screen     ", keys);
    report("content of a row  ", contents);
}

fn report(what: &str, mut times: Vec<Duration>) {
    times.sort();
    let at = |share: usize| times[(times.len() - 1) * share / 100];
    println!(
        "{what} median {:?}, 99 % within {:?}, longest {:?}",
        at(50),
        at(99),
        at(100)
    );
}

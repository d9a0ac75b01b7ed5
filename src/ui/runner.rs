//! Runs the terminal interface: reads keys, draws, and carries effects out on threads.

use std::io;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use ratatui::crossterm::event::{self, Event as Input};

use crate::transcript::EntryIx;

use super::app::{App, Effect, Event, Made};
use super::host::{Host, carry_out, editable};
use super::terminal::{OwnTerminal, has_panicked};
use super::tree::Tree;

/// How often the clock ticks.
const TICK: Duration = Duration::from_millis(250);

/// How long keys are waited for while answers are due.
const SOON: Duration = Duration::from_millis(4);

/// How the interface ended.
#[derive(Debug, PartialEq, Eq)]
pub enum Ending {
    /// The person left.
    Left,
    /// The person wants to resume what was made.
    Resume(Box<Made>),
}

/// Runs the terminal interface.
pub struct Runner {
    app: App,
    host: Arc<dyn Host>,
    answers: (Sender<Event>, Receiver<Event>),
    /// How many answers are due.
    due: Arc<AtomicUsize>,
    reader: Latest,
    forecaster: Latest,
    writer: Option<JoinHandle<()>>,
    /// Held while something is written.
    writing: Arc<Mutex<()>>,
    ending: Option<Ending>,
}

impl Runner {
    /// Makes a runner.
    pub fn new(app: App, host: Arc<dyn Host>) -> Self {
        Self {
            app,
            host,
            answers: channel(),
            due: Arc::default(),
            reader: Latest::start(),
            forecaster: Latest::start(),
            writer: None,
            writing: Arc::default(),
            ending: None,
        }
    }

    /// Runs until the person leaves, the terminal is gone, or the process is asked to end.
    pub fn run(mut self, first: Vec<Effect>) -> io::Result<Ending> {
        let is_ended = Arc::new(AtomicBool::new(false));
        end_with_terminal(&is_ended, &self.writing)?;
        let mut terminal = OwnTerminal::take()?;
        let size = terminal.screen.size()?;
        self.app.size = (size.width, size.height);
        self.perform(first, &mut terminal)?;
        let mut ticked = Instant::now();
        terminal.screen.draw(|frame| self.app.draw(frame))?;
        while self.ending.is_none() && !is_ended.load(Ordering::Relaxed) {
            if has_panicked() {
                return Err(io::Error::other("the terminal interface failed"));
            }
            let mut happened = Vec::new();
            let patience = match self.due.load(Ordering::Relaxed) {
                0 => TICK.saturating_sub(ticked.elapsed()),
                _ => SOON,
            };
            if event::poll(patience)? {
                happened.extend(translated(event::read()?));
                while event::poll(Duration::ZERO)? {
                    happened.extend(translated(event::read()?));
                }
            }
            happened.extend(self.answers.1.try_iter());
            if ticked.elapsed() >= TICK {
                ticked = Instant::now();
                happened.extend([Event::Progress(self.host.progress()), Event::Tick]);
            }
            if happened.is_empty() {
                continue;
            }
            for event in happened {
                let effects = self.app.update(event);
                self.perform(effects, &mut terminal)?;
            }
            if self.ending.is_none() {
                terminal.screen.draw(|frame| self.app.draw(frame))?;
            }
        }
        drop(terminal);
        // What is being written is finished first.
        if let Some(writer) = self.writer.take() {
            let _ = writer.join();
        }
        Ok(self.ending.unwrap_or(Ending::Left))
    }

    fn perform(&mut self, effects: Vec<Effect>, terminal: &mut OwnTerminal) -> io::Result<()> {
        for effect in effects {
            match effect {
                Effect::Quit => self.ending = Some(Ending::Left),
                Effect::Resume(made) => self.ending = Some(Ending::Resume(made)),
                Effect::Suspend => terminal.lend(suspend)?,
                Effect::Edit(entry) => self.edit(entry, terminal)?,
                Effect::EditDigest(text) => {
                    let edited = terminal.lend(|| self.host.edit(&text))?;
                    self.answer(Event::DigestEdited(edited));
                }
                effect => self.start(effect),
            }
        }
        Ok(())
    }

    fn answer(&mut self, event: Event) {
        let effects = self.app.update(event);
        for effect in effects {
            self.start(effect);
        }
    }

    fn edit(&mut self, entry: EntryIx, terminal: &mut OwnTerminal) -> io::Result<()> {
        let Some(tree) = self.tree() else {
            return Ok(());
        };
        let text = self
            .app
            .table
            .as_ref()
            .and_then(|t| t.marks.edits.get(&entry).cloned());
        let edited = match text.map_or_else(|| editable(&tree, entry), Ok) {
            Ok(text) => {
                let edited = terminal.lend(|| self.host.edit(&text))?;
                edited.map(|new| (new != text).then_some(new))
            }
            Err(why) => Err(why),
        };
        match edited {
            Ok(Some(new)) => self.answer(Event::Edited(entry, Ok(new))),
            Ok(None) => self.app.say("the text stays as it is"),
            Err(why) => self.answer(Event::Edited(entry, Err(why))),
        }
        Ok(())
    }

    fn tree(&self) -> Option<Arc<Tree>> {
        let table = self.app.table.as_ref()?;
        Some(Arc::clone(&table.tree))
    }

    /// Carries an effect out on a thread.
    fn start(&mut self, effect: Effect) {
        let (tree, host) = (self.tree(), Arc::clone(&self.host));
        let (look, answers) = (self.app.look.clone(), self.answers.0.clone());
        let due = Due::new(&self.due);
        let is_read = matches!(effect, Effect::Read(..) | Effect::Glimpse(..));
        let is_forecast = matches!(effect, Effect::Forecast(..));
        let writes = matches!(effect, Effect::Apply(..) | Effect::Undo(_));
        let writing = Arc::clone(&self.writing);
        let work = move || {
            let _held = writes.then(|| hold(&writing));
            if let Some(event) = carry_out(effect, tree.as_ref(), &*host, &look) {
                let _ = answers.send(event);
            }
            drop(due);
        };
        if is_read {
            self.reader.submit(Box::new(work));
        } else if is_forecast {
            self.forecaster.submit(Box::new(work));
        } else {
            let thread = std::thread::spawn(work);
            if writes {
                self.writer = Some(thread);
            }
        }
    }
}

fn hold(writing: &Mutex<()>) -> MutexGuard<'_, ()> {
    writing.lock().unwrap_or_else(PoisonError::into_inner)
}

/// How long the interface has to end by itself when it is asked to.
#[cfg(unix)]
const GRACE: Duration = Duration::from_secs(2);

/// Ends the interface when its terminal is closed or the process is asked to end.
///
/// Where the terminal is gone, waiting for keys never returns: then the process ends, once nothing is being written.
#[cfg(unix)]
fn end_with_terminal(is_ended: &Arc<AtomicBool>, writing: &Arc<Mutex<()>>) -> io::Result<()> {
    use signal_hook::consts::{SIGHUP, SIGTERM};
    let mut signals = signal_hook::iterator::Signals::new([SIGHUP, SIGTERM])?;
    let (is_ended, writing) = (Arc::clone(is_ended), Arc::clone(writing));
    std::thread::spawn(move || {
        if let Some(signal) = signals.forever().next() {
            is_ended.store(true, Ordering::Relaxed);
            std::thread::sleep(GRACE);
            let _held = hold(&writing);
            std::process::exit(128 + signal);
        }
    });
    Ok(())
}

/// The console ends the process by itself when it is closed.
#[cfg(not(unix))]
fn end_with_terminal(_: &Arc<AtomicBool>, _: &Arc<Mutex<()>>) -> io::Result<()> {
    Ok(())
}

/// Counts an answer that is due, until it is dropped.
struct Due(Arc<AtomicUsize>);

impl Due {
    fn new(count: &Arc<AtomicUsize>) -> Self {
        count.fetch_add(1, Ordering::Relaxed);
        Self(Arc::clone(count))
    }
}

impl Drop for Due {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

type Work = Box<dyn FnOnce() + Send>;

/// A thread that does the latest work it was given. What waits is forgotten when something newer comes.
struct Latest {
    slot: Arc<(Mutex<Option<Work>>, Condvar)>,
}

impl Latest {
    fn start() -> Self {
        let slot: Arc<(Mutex<Option<Work>>, Condvar)> = Arc::default();
        let own = Arc::clone(&slot);
        std::thread::spawn(move || {
            loop {
                let mut waiting = own.0.lock().unwrap_or_else(PoisonError::into_inner);
                let work = loop {
                    match waiting.take() {
                        Some(work) => break work,
                        None => {
                            waiting = own.1.wait(waiting).unwrap_or_else(PoisonError::into_inner);
                        }
                    }
                };
                drop(waiting);
                work();
            }
        });
        Self { slot }
    }

    fn submit(&self, work: Work) {
        let mut waiting = self.slot.0.lock().unwrap_or_else(PoisonError::into_inner);
        *waiting = Some(work);
        self.slot.1.notify_one();
    }
}

/// Returns what the terminal reports as events.
fn translated(input: Input) -> Vec<Event> {
    match input {
        Input::Key(key) => vec![Event::Key(key)],
        Input::Mouse(mouse) => vec![Event::Mouse(mouse)],
        Input::Resize(columns, rows) => vec![Event::Resize(columns, rows)],
        Input::Paste(text) => vec![Event::Paste(text)],
        Input::FocusGained | Input::FocusLost => Vec::new(),
    }
}

/// Stops the process until the shell continues it.
fn suspend() {
    #[cfg(unix)]
    {
        use rustix::process::{Signal, getpid, kill_process};
        let _ = kill_process(getpid(), Signal::TSTP);
    }
}

//! How far an audit is, on stderr: one line that is written over on a terminal, else a line every ten seconds.

use std::io::{self, Write};
use std::time::{Duration, Instant};

const ON_TERMINAL: Duration = Duration::from_millis(200);
const ELSEWHERE: Duration = Duration::from_secs(10);
/// Cells of the bar.
const WIDTH: usize = 24;

pub(super) struct Progress<'a> {
    err: &'a mut dyn Write,
    terminal: bool,
    last: Instant,
    /// Whether the terminal's line has text.
    open: bool,
}

impl<'a> Progress<'a> {
    pub(super) fn new(err: &'a mut dyn Write, terminal: bool) -> Self {
        Self { err, terminal, last: Instant::now(), open: false }
    }

    /// Reports how many objects of a kind are read, and how many are left where that is known.
    pub(super) fn show_count_if_due(&mut self, kind: &str, done: usize, left: Option<u64>) -> io::Result<()> {
        let every = if self.terminal { ON_TERMINAL } else { ELSEWHERE };
        if self.last.elapsed() < every {
            return Ok(());
        }
        self.last = Instant::now();
        let left = left.and_then(|left| usize::try_from(left).ok());
        let text = match left {
            Some(left) => format!("{kind}: {done} of about {} read", done.saturating_add(left)),
            None => format!("{kind}: {done} read"),
        };
        if !self.terminal {
            return writeln!(self.err, "{text}");
        }
        self.open = true;
        let bar = left.map(|left| bar(done, left)).unwrap_or_default();
        write!(self.err, "\r\x1b[K{bar}{text}")?;
        self.err.flush()
    }

    /// A line that stays.
    pub(super) fn write_line_that_stays(&mut self, text: &str) -> io::Result<()> {
        self.remove_progress_line()?;
        writeln!(self.err, "{text}")
    }

    /// Removes the terminal's line.
    pub(super) fn remove_progress_line(&mut self) -> io::Result<()> {
        if std::mem::take(&mut self.open) {
            write!(self.err, "\r\x1b[K")?;
        }
        Ok(())
    }
}

fn bar(done: usize, left: usize) -> String {
    let all = done.saturating_add(left).max(1);
    let cells = done.saturating_mul(WIDTH).checked_div(all).unwrap_or(WIDTH).min(WIDTH);
    format!("[{}{}] ", "#".repeat(cells), "-".repeat(WIDTH.saturating_sub(cells)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_terminal_has_one_line_and_a_file_has_few() {
        let shown = |terminal: bool, waited: Duration| {
            let mut out = Vec::new();
            let mut progress = Progress::new(&mut out, terminal);
            progress.last = Instant::now().checked_sub(waited).unwrap();
            progress.show_count_if_due("Pod", 50, Some(150)).unwrap();
            progress.show_count_if_due("Pod", 60, Some(140)).unwrap();
            progress.write_line_that_stays("note").unwrap();
            String::from_utf8(out).unwrap()
        };
        let line = "\r\x1b[K[######------------------] Pod: 50 of about 200 read\r\x1b[Knote\n";
        assert_eq!(shown(true, ELSEWHERE), line);
        assert_eq!(shown(false, ELSEWHERE), "Pod: 50 of about 200 read\nnote\n");
        assert_eq!(shown(false, ON_TERMINAL), "note\n");
    }
}

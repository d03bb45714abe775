//! Lines that `explain` knows, as they are found in a log.

use super::line_head::Level;
use super::split_lines::Place;
use crate::known_lines::{KNOWN_LINES, KnownLine, Meaning};
use crate::text::escaped_and_cut;

/// A known line, and how often the log has it.
#[derive(Debug, Clone)]
pub struct Matched {
    /// The line; `None` for a warning that `explain` does not know.
    pub line: Option<&'static KnownLine>,
    /// Whether NCCL called it a warning at least once.
    pub warned: bool,
    /// Lines.
    pub count: u64,
    /// Place of the first one; of the first warning where there is one.
    pub first: Place,
    /// Its message, cut.
    pub text: String,
}

/// Counts of known lines, and of warnings that are not known.
#[derive(Debug, Default)]
pub(super) struct Counts {
    /// One for each known line, in the order of [`KNOWN_LINES`], and one for all others.
    found: Vec<Option<Matched>>,
}

/// Characters of a message that are kept.
const MAX_KEPT_CHARACTERS: usize = 300;

/// The known line that a message has.
pub(super) fn find_known_line(message: &str) -> Option<(usize, &'static KnownLine)> {
    let own = |line: &KnownLine| line.meaning != Meaning::Elsewhere;
    KNOWN_LINES.iter().enumerate().find(|(_, line)| own(line) && line.is_in(message))
}

impl Counts {
    pub(super) fn add(
        &mut self,
        known: Option<(usize, &'static KnownLine)>,
        level: Level,
        place: Place,
        text: &str,
    ) {
        let at = known.map_or(KNOWN_LINES.len(), |(at, _)| at);
        if self.found.is_empty() {
            self.found.resize(KNOWN_LINES.len() + 1, None);
        }
        let Some(slot) = self.found.get_mut(at) else { return };
        let matched = slot.get_or_insert_with(|| Matched {
            line: known.map(|(_, line)| line),
            warned: false,
            count: 0,
            first: place,
            text: escaped_and_cut(text, MAX_KEPT_CHARACTERS),
        });
        matched.count += 1;
        if level == Level::Warn && !matched.warned {
            // NCCL gave up: this line says more than those of its tries.
            (matched.warned, matched.first, matched.text) =
                (true, place, escaped_and_cut(text, MAX_KEPT_CHARACTERS));
        }
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &Matched> {
        self.found.iter().flatten()
    }
}

//! The terminal that shows the output.

/// Columns of output that goes to a pipe, a file or the log of a CI job.
const WIDTH_WITHOUT_TERMINAL: usize = 100;

/// Columns of a line: those of variable COLUMNS, else those of the terminal.
pub(super) fn width() -> usize {
    let set = std::env::var("COLUMNS").ok().and_then(|columns| columns.parse().ok());
    let seen = || terminal_size::terminal_size().map(|(width, _)| usize::from(width.0));
    set.or_else(seen).filter(|columns| *columns > 0).unwrap_or(WIDTH_WITHOUT_TERMINAL)
}

//! Messages on standard error. Each takes one line, whatever names, values and paths of the inputs it has: a runner of CI looks
//! for commands at the start of lines, and a terminal takes orders from control characters.

use crate::report::ci::text_without_runner_commands;
use std::fmt;
use std::io::{self, Write};

/// What ends the command, or makes its result partial.
pub(super) fn write_error(err: &mut dyn Write, message: fmt::Arguments<'_>) -> io::Result<()> {
    write_line(err, "error", message)
}

/// What the user should look at.
pub(super) fn write_warning(err: &mut dyn Write, message: fmt::Arguments<'_>) -> io::Result<()> {
    write_line(err, "warning", message)
}

/// What the user may want to know.
pub(super) fn write_note(err: &mut dyn Write, message: fmt::Arguments<'_>) -> io::Result<()> {
    write_line(err, "note", message)
}

fn write_line(err: &mut dyn Write, level: &str, message: fmt::Arguments<'_>) -> io::Result<()> {
    writeln!(err, "{level}: {}", text_without_runner_commands(&message.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_takes_one_line() {
        let mut out = Vec::new();
        write_error(&mut out, format_args!("{}: x", "a\n::error::b\u{1b}[2J\u{202e}")).unwrap();
        write_warning(&mut out, format_args!("##[add-mask]a")).unwrap();
        write_note(&mut out, format_args!("b\u{9b}")).unwrap();
        let text = String::from_utf8(out).unwrap();
        assert_eq!(
            text,
            "error: a\\n::error::b\\u{1b}[2J\\u{202e}: x\nwarning: # #[add-mask]a\nnote: b\\u{9b}\n"
        );
    }
}

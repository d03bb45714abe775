//! `explain "NET/IB : No device found"`: the known lines that a given one has.

use super::annotation::write_rules_with_summaries;
use super::rule::wrapped;
use crate::cli::Exit;
use crate::known_lines::{KNOWN_LINES, KnownLine};
use std::collections::BTreeSet;
use std::io::{self, Write};

/// The known lines that the text contains, or that contain the text.
pub(super) fn find(text: &str) -> Vec<&'static KnownLine> {
    let text = simple(text);
    // A word or two of a line are not enough to tell it from others.
    if text.len() < 8 {
        return Vec::new();
    }
    let holds = |line: &&KnownLine| {
        let mut rest = text.as_str();
        let mut in_order = line.fragments.iter().all(|fragment| {
            let fragment = simple(fragment);
            let found = rest.find(&fragment).and_then(|at| rest.get(at + fragment.len()..));
            found.map(|after| rest = after).is_some()
        });
        // A part of the line that begins in its first fragment. The rest alone ("context deadline exceeded") is said of
        // many things, and so is a single word.
        let first = line.fragments.first().map_or(0, |first| simple(first).len());
        let start = simple(&line.fragments.join(" ")).find(&text);
        in_order |= text.contains(' ') && start.is_some_and(|start| start < first);
        in_order
    };
    KNOWN_LINES.iter().filter(holds).collect()
}

/// The known line with the most words in common; at least two.
pub(super) fn nearest(text: &str) -> Option<&'static KnownLine> {
    let text = simple(text);
    let words: BTreeSet<&str> = text.split(' ').filter(|word| word.len() > 2).collect();
    let common = |line: &KnownLine| {
        let known = simple(&line.fragments.join(" "));
        known.split(' ').collect::<BTreeSet<_>>().intersection(&words).count()
    };
    KNOWN_LINES
        .iter()
        .map(|line| (common(line), line))
        .filter(|(common, _)| *common >= 2)
        .max_by_key(|(common, _)| *common)
        .map(|(_, line)| line)
}

/// Lower case, with one space for all that is between words: versions of a program write colons and spaces differently.
fn simple(text: &str) -> String {
    let word = |c: char| c.is_alphanumeric() || matches!(c, '_' | '/' | '-' | '.');
    let words =
        text.split(|c: char| !word(c)).map(|part| part.trim_end_matches('.')).filter(|part| !part.is_empty());
    words.collect::<Vec<_>>().join(" ").to_lowercase()
}

pub(super) fn explain(lines: &[&KnownLine], out: &mut dyn Write) -> io::Result<Exit> {
    for (at, line) in lines.iter().enumerate() {
        if at > 0 {
            writeln!(out)?;
        }
        let KnownLine { from, cause, fix, rules, source, .. } = line;
        writeln!(out, "{:?} (from: {from})\n", line.quoted())?;
        writeln!(out, "Cause\n{}\n\nFix\n{}", wrapped(cause), wrapped(fix))?;
        write_rules_with_summaries(rules, out)?;
        writeln!(out, "\nSource\n{}", wrapped(source))?;
    }
    Ok(Exit::Clean)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_found_with_what_stands_around_it() {
        for (text, known) in [
            ("h1:42:99 [3] NCCL INFO NET/IB : No device found.", "NET/IB : No device found"),
            ("net/ib: no device found", "NET/IB : No device found"),
            ("ibv_reg_mr failed", "Call to ibv_reg_mr"),
            (
                "failed calling webhook \"a\": failed to call webhook: x509: certificate signed by unknown authority",
                "failed calling webhook",
            ),
            ("No device found", "NET/IB : No device found"),
        ] {
            assert!(find(text).iter().any(|line| line.fragments.first() == Some(&known)), "{text}");
        }
        assert!(find("failed").is_empty());
        for of_others in [
            "Failed to pull image \"a/b:1\": context deadline exceeded",
            "tls: failed to verify certificate: x509: certificate signed by unknown authority",
            "context deadline exceeded",
            "certificate",
        ] {
            assert!(find(of_others).is_empty(), "{of_others}");
        }
        assert!(find("the disk is full of memories").is_empty());
    }

    #[test]
    fn every_line_finds_itself_and_has_rules_that_exist() {
        for line in &KNOWN_LINES {
            let text = line.fragments.join(" something ");
            assert!(find(&text).iter().any(|found| std::ptr::eq(*found, line)), "{text}");
            for id in line.rules {
                assert!(crate::rules::find_rule(id).is_some(), "{id}");
            }
        }
    }
}

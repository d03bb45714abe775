//! `why`: how the profile of each pod is chosen.

use super::review::{Ignores, ReviewOptions, review_document};
use super::{Exit, input};
use crate::report::json_without_runner_commands::write_json;
use crate::report::why::json::{PodEntry, Report};
use crate::report::why::text::write_result;
use crate::text::count_with_noun;
use clap::ValueEnum;
use std::collections::BTreeSet;
use std::io::{self, Write};
use std::sync::Arc;

#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    #[command(flatten)]
    input: input::InputFlags,
    /// Output format
    #[arg(long, short, value_enum, default_value_t = Format::Text)]
    output: Format,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Format {
    /// Text for a terminal
    Text,
    /// One JSON document, schema fabric-admission.dev/why/v1
    Json,
}

pub(super) fn run(arguments: &Arguments, out: &mut dyn Write, err: &mut dyn Write) -> io::Result<Exit> {
    let prepared = match input::read_inputs_and_facts(&arguments.input, None, err)? {
        Ok(prepared) => prepared,
        Err(exit) => return Ok(exit),
    };
    let (namespace, profile) = (prepared.namespace, prepared.profile);
    let setting = ReviewOptions {
        namespace,
        mode: None,
        profile,
        audience: None,
        ignores: Ignores::default(),
        why: true,
        work: Arc::default(),
        estimate: None,
    };
    let mut unread = prepared.unread;
    let (mut reviews, problems) = review_document::review_all_documents_and_report_unread(
        &prepared.loaded,
        &setting,
        &prepared.snapshot,
        err,
    )?;
    let mut skipped = problems.skipped;
    unread.extend(problems.unread.into_iter().map(|(unread, _)| unread));
    for review in &mut reviews {
        skipped.append(&mut review.skipped);
        unread.append(&mut review.unread);
    }
    // Only pods have a profile.
    let pods =
        || reviews.iter().flat_map(|review| &review.results).filter(|reviewed| reviewed.template.is_some());
    match arguments.output {
        Format::Text => {
            let mut first = true;
            for reviewed in pods() {
                if !std::mem::take(&mut first) {
                    writeln!(out)?;
                }
                write_result(out, reviewed)?;
            }
            if first {
                writeln!(out, "no pods in the inputs")?;
            }
            // A reader of a file does not see stderr.
            let inputs: BTreeSet<&str> = unread.iter().map(|unread| &*unread.file).collect();
            if !inputs.is_empty() {
                writeln!(out, "\npartial result: {} unreadable", count_with_noun(inputs.len(), "input"))?;
            }
        }
        Format::Json => {
            let results = pods().map(PodEntry::new).collect();
            write_json(&mut *out, &Report::new(results, &skipped, &unread))?;
            writeln!(out)?;
        }
    }
    Ok(if !unread.is_empty() {
        Exit::Usage
    } else if pods().any(|pod| pod.decision.denied) {
        Exit::Findings
    } else {
        Exit::Clean
    })
}

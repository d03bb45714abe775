//! `review`: changes and findings for manifests, offline. Formats of one result are in `report`; here is what concerns
//! many files: order, settings, repeated findings, placeholders.

mod arguments;
mod config;
pub(super) mod document_results;
mod facts_shared_by_configs;
mod findings_in_text;
mod kube_version;
mod limit_bytes_named_by_configs;
mod line_and_column_of_finding;
mod mode_and_audience;
mod namespace_and_mode_of_object;
mod never_overwrite_inputs;
mod new_since_baseline;
mod options_of_all_decisions;
mod output;
mod output_format;
pub(super) mod placeholders;
mod read_inputs_of_one_config;
mod repeated_findings;
pub(super) mod review_document;
mod shown_findings;

pub(super) use arguments::Arguments;
pub(super) use config::Ignores;
pub(super) use options_of_all_decisions::ReviewOptions;

use super::output_flag;
use super::read_and_write_baseline_file;
use super::terminal_width;
use super::{Exit, input};
use crate::cli::create_output_file::create_output_file;
use crate::cli::lines_on_stderr::write_error;
use crate::report::UnreadInput;
use crate::report::review_text::WhatReviewShows;
use config::ConfigChoice;
use facts_shared_by_configs::FactsSharedByConfigs;
use limit_bytes_named_by_configs::BytesNamedByConfigs;
use never_overwrite_inputs::{create_unless_input, inputs_among, is_input};
use new_since_baseline::Baselines;
use output::{InputsToReview, ReviewOutput, Target, WhatIsShown};
use read_inputs_of_one_config::ReviewOfOneConfig;
use shown_findings::FindingFilter;
use std::io::{self, Write};
use std::sync::Arc;

pub(super) fn run(arguments: &Arguments, out: &mut dyn Write, err: &mut dyn Write) -> io::Result<Exit> {
    if let Some(clash) = output_flag::why_outputs_clash(&arguments.output) {
        write_error(err, format_args!("--output: {clash}"))?;
        return Ok(Exit::Usage);
    }
    let choice = match (&arguments.config, arguments.no_config) {
        (Some(file), _) => ConfigChoice::File(file),
        (None, true) => ConfigChoice::None,
        (None, false) => ConfigChoice::Nearest,
    };
    let mut unread = Vec::new();
    let groups = match config::group_inputs_by_config(arguments.input.paths(), &choice, &mut unread) {
        Ok(groups) => groups,
        Err(problem) => {
            let UnreadInput { file, line, column, message } = problem;
            write_error(err, format_args!("{file}:{line}:{column}: {message}"))?;
            return Ok(Exit::Usage);
        }
    };
    let mut unread: Vec<_> = unread.into_iter().map(|problem| (problem, None)).collect();
    input::report_unread(&unread, err)?;
    let written = arguments.output.iter().filter_map(|output| output.file.as_deref());
    let inputs = inputs_among(written.chain(arguments.write_baseline.as_deref()), &groups);
    // Everything is read before anything is written.
    let mut baselines = Baselines::new(arguments.write_baseline.is_some());
    let mut reviews = Vec::new();
    let work = Arc::default();
    let mut named = BytesNamedByConfigs::default();
    let mut shared = FactsSharedByConfigs::new(arguments, &groups);
    for group in groups {
        if let Err(message) = named.add_or_refuse(arguments, &group) {
            write_error(err, format_args!("{message}"))?;
            return Ok(Exit::Usage);
        }
        let baseline =
            match read_inputs_of_one_config::read_baseline_of_group(arguments, &group, &mut baselines) {
                Ok(baseline) => baseline,
                Err(message) => {
                    write_error(err, format_args!("--baseline: {message}"))?;
                    return Ok(Exit::Usage);
                }
            };
        let first = group.paths.first().map(|path| path.display().to_string()).unwrap_or_default();
        if let Some(message) = shared.why_no_more(&first) {
            write_error(err, format_args!("{message}"))?;
            return Ok(Exit::Usage);
        }
        let with = (&mut shared, &work);
        match read_inputs_of_one_config::read_inputs_with_config(arguments, group, baseline, with, err)? {
            Ok(review) => {
                let of_flag = !arguments.input.cluster().is_empty();
                let length = if of_flag { 0 } else { review.prepared.bytes_of_fact_documents };
                if let Err(message) = named.add_documents_or_refuse(length, || first.clone()) {
                    write_error(err, format_args!("{message}"))?;
                    return Ok(Exit::Usage);
                }
                reviews.push(review);
            }
            Err(exit) => return Ok(exit),
        }
    }
    drop(shared);
    if let Some(file) = arguments.write_baseline.as_deref().filter(|file| is_input(file, &inputs)) {
        write_error(err, format_args!("--write-baseline: {}: this file is an input", file.display()))?;
        return Ok(Exit::Usage);
    }
    let mut targets = Vec::new();
    let mut out = Some(out);
    for output_flag::Output { format, file } in &arguments.output {
        let writer: Box<dyn Write> = match (file, out.take_if(|_| file.is_none())) {
            (Some(file), _) => match create_unless_input(file, &inputs) {
                Ok(created) => Box::new(created),
                Err(message) => {
                    write_error(err, format_args!("--output: {}: {message}", file.display()))?;
                    return Ok(Exit::Usage);
                }
            },
            (None, Some(out)) if !arguments.quiet => Box::new(out),
            (None, _) => Box::new(io::sink()),
        };
        targets.push(Target { format: *format, out: writer, stdout: file.is_none() });
    }
    let (verbose, only_findings) = (arguments.verbose, arguments.only_findings);
    let view = WhatReviewShows { verbose, only_findings, width: terminal_width::width() };
    let filter = FindingFilter::new(&arguments.rule, arguments.severity);
    let mut output = ReviewOutput::write_begin(
        targets,
        WhatIsShown { view, filter, quiet: arguments.quiet, estimate: arguments.estimate },
        baselines,
    )?;
    let mut fails = false;
    for ReviewOfOneConfig { mut prepared, setting, fail_on, baseline } in reviews {
        let of_directories = unread.drain(..).map(|(problem, _)| problem);
        let unread = of_directories.chain(std::mem::take(&mut prepared.unread)).collect();
        let snapshot = prepared.snapshot.sharing_answers_between_decisions();
        let part = InputsToReview {
            loaded: &prepared.loaded,
            snapshot: &snapshot,
            setting: &setting,
            fails: fail_on.severity(),
            baseline,
        };
        let worst = output.decide_and_write_inputs_of_one_config(part, unread, err)?;
        fails |= Exit::of_worst_finding(false, worst, fail_on) == Exit::Findings;
    }
    let (summary, baseline) = output.finish_formats_and_baseline(err)?;
    // The old file stays until there is a new one.
    if let (Some(path), Some(baseline)) = (&arguments.write_baseline, baseline)
        && let Err(error) = create_output_file(path)
            .and_then(|file| read_and_write_baseline_file::write(file, &baseline.head, baseline.entries()))
    {
        write_error(err, format_args!("--write-baseline: {}: {error}", path.display()))?;
        return Ok(Exit::Internal);
    }
    Ok(Exit::of_unreadable_or_failed(summary.partial, fails))
}

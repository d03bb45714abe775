//! `audit`: every workload and pod of a cluster. Decisions come from `review`, the result is ordered and written by
//! `report`; here is what concerns many objects: owners, pages, and what could not be read.

mod arguments;
mod audit_live_cluster_or_files;
mod claims_of_audited_pod;
mod decide_and_add_up;
mod decide_files_and_find_missing_kinds;
mod exit_code_of_audit;
mod finished_audit;
mod output;
mod owners_of_objects;
mod pod_as_created_again;
mod progress;
mod read_and_decide_live_objects;

pub(super) use arguments::{Arguments, Source};

use super::Exit;
use super::input::{self, documents_to_objects};
use super::output_flag;
use super::read_and_write_baseline_file;
use crate::cli::create_output_file::create_output_file;
use crate::cli::lines_on_stderr::write_error;
use crate::report::baseline_comparison::Comparison;
use crate::snapshot::{Builder, Settings};
use exit_code_of_audit::exit_code_of_audit;
use finished_audit::FinishedAudit;
use std::io::{self, Write};

pub(super) fn run(arguments: &Arguments, out: &mut dyn Write, err: &mut dyn Write) -> io::Result<Exit> {
    if let Some(clash) = output_flag::why_outputs_clash(&arguments.output) {
        write_error(err, format_args!("--output: {clash}"))?;
        return Ok(Exit::Usage);
    }
    let before = match arguments.new_since.as_deref().map(read_and_write_baseline_file::read).transpose() {
        Ok(before) => before,
        Err(message) => {
            write_error(err, format_args!("--new-since: {message}"))?;
            return Ok(Exit::Usage);
        }
    };
    let read = run_audit(arguments, err)?;
    let FinishedAudit { mut document, failed } = match read {
        Ok(read) => read,
        Err(exit) => return Ok(exit),
    };
    let mut now = document.as_new_baseline();
    let unreadable = !document.errors.is_empty();
    document.comparison = before.map(|before| {
        let comparison = Comparison::compare_runs(&before, &now);
        if unreadable { comparison.make_resolved_incomparable() } else { comparison }
    });
    let entries = std::mem::take(&mut now.entries).into_iter();
    if let Some(path) = &arguments.write_baseline {
        if failed {
            write_error(err, format_args!("--write-baseline: not written, since a list failed"))?;
        } else if unreadable {
            write_error(err, format_args!("--write-baseline: not written, since an input cannot be read"))?;
        } else if let Err(error) =
            create_output_file(path).and_then(|file| read_and_write_baseline_file::write(file, &now, entries))
        {
            write_error(err, format_args!("--write-baseline: {}: {error}", path.display()))?;
            return Ok(Exit::Internal);
        }
    }
    for written in &arguments.output {
        if let Err(error) = output::write(written, &document, arguments.verbose, out) {
            // A closed pipe and a full disk are the caller's to report.
            let Some(path) = &written.file else { return Err(error) };
            write_error(err, format_args!("{}: {error}", path.display()))?;
            return Ok(Exit::Internal);
        }
    }
    Ok(exit_code_of_audit(&document, failed, arguments.fail_on))
}

/// Reads a cluster and decides on it.
pub(super) fn run_audit(
    arguments: &Arguments,
    err: &mut dyn Write,
) -> io::Result<Result<FinishedAudit, Exit>> {
    let bases = match input::read_and_find_profiles::built_in_profiles() {
        Ok(bases) => bases,
        Err(error) => {
            write_error(err, format_args!("a compiled-in profile cannot be read: {error}"))?;
            return Ok(Err(Exit::Internal));
        }
    };
    let mut builder = Builder::new(bases.clone());
    builder.replace_settings(Settings { operator_namespaces: None, ..arguments.choice.settings() });
    let mut problems = documents_to_objects::FactProblems::default();
    if let Some(path) = &arguments.profiles {
        input::read_and_find_profiles::add_all_profiles_or_none(
            path,
            &bases,
            &mut builder,
            &mut problems.errors,
        );
        if !problems.errors.is_empty() {
            input::write_fact_warnings_and_input_errors(&problems, err)?;
            return Ok(Err(Exit::Usage));
        }
    }
    if arguments.live {
        audit_live_cluster_or_files::audit_live_cluster(arguments, builder, &bases, err)
    } else {
        audit_live_cluster_or_files::audit_files(arguments, builder, &bases, problems, err)
    }
}

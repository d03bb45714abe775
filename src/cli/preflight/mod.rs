//! `preflight`: reads what this pod sees of its fabric, and reports what `crate::preflight` decides about it.

mod expectation_from_profile;
mod fill_file_in_place;
mod install;

use super::Exit;
use super::create_output_file::create_output_file;
use crate::cli::flag_values::parse_existing_directory;
use crate::cli::lines_on_stderr::{write_error, write_warning};
use crate::cli::pretty_json::write_pretty_json;
use crate::pod_agent::{Options, Root, read_everything};
use crate::preflight::expectation_document::{Expectation, Policy};
use crate::preflight::facts_json_for_monitor::Facts;
use crate::preflight::nccl_conf_lines_from_readings::Conf;
use crate::preflight::preflight_report::Report;
use crate::preflight::readings::Readings;
use crate::text::{count_with_noun, cut_without_runner_commands};
use clap::ValueEnum;
use std::io::{self, Write};
use std::path::PathBuf;

#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    /// Directory with /sys, /proc, /dev and the files of the image; for tests, a copy of the root directory of another pod
    #[arg(long, value_name = "DIR", default_value = "/", value_parser = parse_existing_directory)]
    root: PathBuf,
    /// JSON with the settings that the profile expects in the pod; default: environment variable
    /// FABRIC_ADMISSION_EXPECT
    #[arg(long, value_name = "JSON")]
    expect: Option<String>,
    /// File with a FabricProfile, instead of --expect; preflight expects all rails of this FabricProfile
    #[arg(long, value_name = "FILE", conflicts_with = "expect")]
    profile_file: Option<PathBuf>,
    /// Copy this program to a directory and exit; init container fabric-install uses this flag
    #[arg(long, value_name = "DIR", exclusive = true)]
    install: Option<PathBuf>,
    /// File for the termination message of the container (at most 4096 bytes), such as /dev/termination-log
    #[arg(long, value_name = "FILE")]
    termination_message: Option<PathBuf>,
    /// Output format
    #[arg(long, short, value_enum, default_value_t = Format::Text)]
    output: Format,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Format {
    /// Text, with the verdict on the last line
    Text,
    /// One JSON document, schema fabric-admission.dev/preflight/v1
    Json,
}

pub(super) fn run(arguments: &Arguments, out: &mut dyn Write, err: &mut dyn Write) -> io::Result<Exit> {
    if let Some(directory) = &arguments.install {
        return match install::install(directory) {
            Ok(()) => Ok(Exit::Clean),
            Err(message) => {
                write_error(err, format_args!("{message}"))?;
                Ok(Exit::Own)
            }
        };
    }
    let expect = match arguments
        .profile_file
        .as_deref()
        .map(expectation_from_profile::read_profile_and_make_expectation)
        .transpose()
    {
        Ok(of_profile) => of_profile.or_else(|| arguments.expect.clone()),
        Err(error) => {
            write_error(err, format_args!("{error}"))?;
            return Ok(Exit::Usage);
        }
    };
    let options = Options { root: Root::new(&arguments.root), expect };
    let expected = expected(&options);
    // Before anything else, so that the file is there when the next container mounts it.
    let target = expected.as_ref().and_then(|e| e.write.as_deref()).map(|path| {
        let path = options.root.path_to_write(path)?;
        fill_file_in_place::FileToFill::create_or_empty_file(&path)
    });
    let seen = read_everything(&options);
    let mut report = Report::run_all_checks(&seen);
    let conf = Conf::lines_from_readings(&seen);
    let policy = expected.as_ref().map(|e| e.policy("PF002"));
    if let Some(written) =
        write_nccl_conf_and_facts(&options.root, (expected.as_ref(), policy), target, &seen, &report, &conf)
    {
        if let (Err(why), Some(Policy::Skip)) = (&written, policy) {
            writeln!(err, "preflight: {} (the profile skips PF002)", cut_without_runner_commands(why, 1000))?;
        }
        report.record_result_of_writing_files(written, policy);
        // What NCCL will read, and why, for the log of the container.
        for (name, value, why) in &conf.lines {
            writeln!(
                err,
                "nccl.conf: {}={} ({why})",
                cut_without_runner_commands(name, 100),
                cut_without_runner_commands(value, 1100)
            )?;
        }
        for (name, why) in &conf.left_out {
            writeln!(err, "nccl.conf: {} is not written ({why})", cut_without_runner_commands(name, 100))?;
        }
    }
    match arguments.output {
        Format::Text => write!(out, "{}", report.text())?,
        Format::Json => {
            write_pretty_json(out, &report)?;
        }
    }
    if let Some(file) = &arguments.termination_message {
        // The log has the whole report, so the container need not fail for this.
        let written = create_output_file(file)
            .and_then(|mut file| file.write_all(report.termination_message().as_bytes()));
        if let Err(error) = written {
            write_warning(err, format_args!("cannot write {}: {error}", file.display()))?;
        }
    }
    Ok(Exit::of_preflight(report.verdict, report.fault))
}

/// The expectation, where it can be read; the report says why not.
fn expected(options: &Options) -> Option<Expectation> {
    Expectation::parse(&crate::pod_agent::read_expectation(options)?).ok()
}

/// Writes the files that the expectation names; `None` where it names none.
fn write_nccl_conf_and_facts(
    root: &Root,
    (expected, policy): (Option<&Expectation>, Option<Policy>),
    target: Option<Result<fill_file_in_place::FileToFill, String>>,
    seen: &Readings,
    report: &Report,
    conf: &Conf,
) -> Option<Result<String, String>> {
    let mut written = Vec::new();
    if let Some(target) = target {
        let content = conf.text(report.profile.as_deref());
        match target.and_then(|mut target| target.write_whole_or_leave_empty(&content)) {
            Ok(()) => written.push(format!("nccl.conf with {}", count_with_noun(conf.lines.len(), "line"))),
            Err(why) => return Some(Err(why)),
        }
    }
    if let Some(path) = expected.and_then(|e| e.facts.as_deref()) {
        // The verdict that the run has if this file can be written.
        let mut complete = report.clone();
        complete.record_result_of_writing_files(Ok(String::new()), policy);
        let facts = Facts::facts_from_readings(seen, &complete, conf, env!("CARGO_PKG_VERSION"));
        match root
            .path_to_write(path)
            .and_then(|path| fill_file_in_place::FileToFill::create_or_empty_file(&path))
            .and_then(|mut target| target.write_whole_or_leave_empty(&facts.to_text()))
        {
            Ok(()) => written.push("facts.json".to_owned()),
            Err(why) => return Some(Err(why)),
        }
    }
    if written.is_empty() { None } else { Some(Ok(format!("wrote {}", written.join(" and ")))) }
}

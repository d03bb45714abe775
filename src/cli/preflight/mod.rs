//! `preflight`: reads what this pod sees of its fabric, and reports what `crate::preflight` decides about it.

mod install;

use super::Exit;
use crate::pod_agent::{Options, Root, look};
use crate::preflight::outcome::{Fault, Verdict};
use crate::preflight::report::Report;
use clap::ValueEnum;
use std::io::{self, Write};
use std::path::PathBuf;

#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    /// Directory that the paths /sys, /proc, /dev and those of the image are below; for a recorded tree
    #[arg(long, value_name = "DIR", default_value = "/")]
    root: PathBuf,
    /// Expectation of the profile as JSON; default: environment variable FABRIC_ADMISSION_EXPECT
    #[arg(long, value_name = "JSON")]
    expect: Option<String>,
    /// Copy this program to a directory and end, for init container fabric-install
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
    /// Text, the verdict last
    Text,
    /// One JSON document, schema fabric-admission.dev/preflight/v1
    Json,
}

pub(super) fn run(arguments: &Arguments, out: &mut dyn Write, err: &mut dyn Write) -> io::Result<Exit> {
    if let Some(directory) = &arguments.install {
        return match install::install(directory) {
            Ok(()) => Ok(Exit::Clean),
            Err(message) => {
                writeln!(err, "error: {message}")?;
                Ok(Exit::Own)
            }
        };
    }
    let options = Options { root: Root::new(&arguments.root), expect: arguments.expect.clone() };
    let report = Report::of(&look(&options));
    match arguments.output {
        Format::Text => write!(out, "{}", report.text())?,
        Format::Json => {
            serde_json::to_writer_pretty(&mut *out, &report)?;
            writeln!(out)?;
        }
    }
    if let Some(file) = &arguments.termination_message {
        // The log has the whole report, so the container need not fail for this.
        if let Err(error) = std::fs::write(file, report.termination_message()) {
            writeln!(err, "warning: cannot write {}: {error}", file.display())?;
        }
    }
    Ok(exit(&report))
}

/// The exit code: who can fix the failure.
fn exit(report: &Report) -> Exit {
    match (report.verdict, report.fault) {
        (Verdict::Fail, Some(Fault::Configuration)) => Exit::Configuration,
        (Verdict::Fail, Some(Fault::Node)) => Exit::Node,
        (Verdict::Fail, _) => Exit::Own,
        _ => Exit::Clean,
    }
}

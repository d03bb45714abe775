//! `review`: changes and findings for manifests, offline. Formats of one result are in `report`; here is what concerns
//! many files: order, settings, repeated findings, placeholders.

pub(super) mod decide;
mod file_text;
mod filter;
mod output;
pub(super) mod placeholders;
mod repeated_findings;
pub(super) mod reviewed;
mod settings;

pub(super) use settings::Setting;

use super::exit_code::FailOn;
use super::terminal;
use super::{Exit, input};
use crate::facts::Mode;
use crate::report::text::View;
use clap::ValueEnum;
use filter::{Filter, Least};
use output::{Output, Shown, Target};
use settings::{AudienceArgument, OutputArgument};
use std::fs::File;
use std::io::{self, Write};
use std::path::Path;

#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    #[command(flatten)]
    input: input::Inputs,
    /// Admission mode that the review applies; default: the mode of the object's namespace, else enforce
    #[arg(long, value_enum)]
    mode: Option<ModeArgument>,
    /// Kubernetes version of the cluster, such as 1.36; the minimum is 1.33
    #[arg(long, value_name = "VERSION", value_parser = kube_version)]
    kube_version: Option<(u32, u32)>,
    /// Review with only the cluster facts that the webhook uses for this kind of caller. Without this flag, the review
    /// uses all facts
    #[arg(long, value_enum, value_name = "WHO")]
    audience: Option<AudienceArgument>,
    /// Namespaces of network operators and device plugins, with --audience; only their objects describe the cluster
    #[arg(
        long, value_name = "NAMESPACE", value_delimiter = ',', value_parser = input::namespace, requires = "audience",
        default_values = input::OPERATOR_NAMESPACES
    )]
    operator_namespaces: Vec<String>,
    /// Output format: text, json, yaml, patch or diff. FORMAT=FILE writes to a file; repeatable
    #[arg(long, short, value_name = "FORMAT[=FILE]", value_parser = settings::output, default_value = "text")]
    output: Vec<OutputArgument>,
    /// Lowest severity of a finding for which the command exits with code 1
    #[arg(long, value_enum, default_value_t = FailOn::Error)]
    fail_on: FailOn,
    /// Show only findings of this rule, such as FAB301; repeatable, or a list with commas
    #[arg(long, value_name = "ID", value_delimiter = ',', value_parser = filter::rule)]
    rule: Vec<&'static str>,
    /// Lowest severity of the findings that are shown
    #[arg(long, value_enum, default_value_t = Least::Info)]
    severity: Least,
    /// Leave out objects without findings, changes, and skipped objects in text output
    #[arg(long)]
    only_findings: bool,
    /// Write nothing to standard output; only the exit code, the files of --output and errors remain
    #[arg(long, short, conflicts_with_all = ["verbose", "only_findings"])]
    quiet: bool,
    /// Show all findings. Without this flag, the output hides info findings about settings that are often intended
    /// (json has all findings)
    #[arg(long, short)]
    verbose: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum ModeArgument {
    /// Deny on errors
    Enforce,
    /// Report errors, but deny nothing
    Audit,
}

fn kube_version(text: &str) -> Result<(u32, u32), String> {
    let mut parts = text.trim_start_matches('v').split(['.', '+', '-']);
    let mut number = || parts.next().and_then(|p| p.parse::<u32>().ok());
    match (number(), number()) {
        (Some(major), Some(minor)) if (major, minor) >= (1, 33) => Ok((major, minor)),
        (Some(_), Some(_)) => Err("expected 1.33 or newer: older versions are not supported".to_owned()),
        _ => Err("expected a version such as 1.36".to_owned()),
    }
}

pub(super) fn run(arguments: &Arguments, out: &mut dyn Write, err: &mut dyn Write) -> io::Result<Exit> {
    if let Some(clash) = settings::clash(&arguments.output) {
        writeln!(err, "error: --output: {clash}")?;
        return Ok(Exit::Usage);
    }
    let named = || arguments.operator_namespaces.iter().cloned().collect();
    let operators = arguments.audience.map(|_| named());
    let prepared = match input::prepare(&arguments.input, operators, err)? {
        Ok(prepared) => prepared,
        Err(exit) => return Ok(exit),
    };
    let setting = Setting {
        namespace: prepared.namespace,
        mode: arguments.mode.map(|m| match m {
            ModeArgument::Enforce => Mode::Enforce,
            ModeArgument::Audit => Mode::Audit,
        }),
        profile: prepared.profile,
        audience: arguments.audience.map(AudienceArgument::audience),
        why: false,
    };
    let (loaded, snapshot) = (prepared.loaded, prepared.snapshot);
    let mut targets = Vec::new();
    let mut out = Some(out);
    for OutputArgument { format, file } in &arguments.output {
        let writer: Box<dyn Write> = match (file, out.take_if(|_| file.is_none())) {
            (Some(file), _) => match create(file, &loaded) {
                Ok(created) => Box::new(created),
                Err(message) => {
                    writeln!(err, "error: --output: {}: {message}", file.display())?;
                    return Ok(Exit::Usage);
                }
            },
            (None, Some(out)) if !arguments.quiet => Box::new(out),
            (None, _) => Box::new(io::sink()),
        };
        targets.push(Target { format: *format, out: writer, stdout: file.is_none() });
    }
    let (verbose, only_findings) = (arguments.verbose, arguments.only_findings);
    let view = View { verbose, only_findings, width: terminal::width() };
    let filter = Filter::new(&arguments.rule, arguments.severity);
    let mut output = Output::begin(targets, Shown { view, filter, quiet: arguments.quiet })?;
    let worst = output.add(&loaded, prepared.unread, &snapshot, &setting, err)?;
    let summary = output.end(err)?;
    Ok(Exit::of_review(summary.partial, worst, arguments.fail_on))
}

/// Creates a file for results. An input is never overwritten.
fn create(file: &Path, loaded: &input::Loaded) -> Result<File, String> {
    if let Ok(existing) = file.canonicalize()
        && loaded.names().any(|name| Path::new(name).canonicalize().is_ok_and(|name| name == existing))
    {
        return Err("this file is an input".to_owned());
    }
    File::create(file).map_err(|error| error.to_string())
}

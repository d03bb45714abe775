//! `review`: changes and findings for manifests, offline. Formats of one result are in `report`; here is what concerns
//! many files: order, settings, repeated findings, placeholders.

pub(super) mod decide;
mod file_text;
mod output;
pub(super) mod placeholders;
mod repeated_findings;
pub(super) mod reviewed;
mod settings;

pub(super) use settings::Setting;

use super::exit_code::FailOn;
use super::{Exit, input};
use crate::facts::Mode;
use clap::ValueEnum;
use settings::{AudienceArgument, Format};
use std::io::{self, Write};

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
    /// Review as the webhook does for this kind of caller, without the cluster objects that the webhook hides from the
    /// caller. Without this flag, the review uses all objects
    #[arg(long, value_enum, value_name = "WHO")]
    audience: Option<AudienceArgument>,
    /// Namespaces of network operators and device plugins. With --audience, objects in these namespaces describe the
    /// cluster for all pods; objects in any other namespace count only for the pods of that namespace
    #[arg(
        long, value_name = "NAMESPACE", value_delimiter = ',', value_parser = input::namespace, requires = "audience",
        default_values = input::OPERATOR_NAMESPACES
    )]
    operator_namespaces: Vec<String>,
    /// Output format
    #[arg(long, short, value_enum, default_value_t = Format::Text)]
    output: Format,
    /// Lowest severity of a finding for which the command exits with code 1
    #[arg(long, value_enum, default_value_t = FailOn::Error)]
    fail_on: FailOn,
    /// Show all findings in text output. Without this flag, the output hides info findings about settings that are
    /// often intended
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
        verbose: arguments.verbose,
        why: false,
    };
    let (loaded, snapshot) = (prepared.loaded, prepared.snapshot);
    let sum = output::write(arguments.output, &loaded, prepared.unread, &snapshot, &setting, out, err)?;
    Ok(Exit::of_review(sum.summary.errors > 0, sum.worst, arguments.fail_on))
}

//! `review`: changes and findings for manifests, offline. Formats of one result are in `report`; here is what concerns
//! many files: order, settings, repeated findings, placeholders.

mod baselines;
mod config;
pub(super) mod decide;
mod file_text;
mod filter;
mod finding_place;
mod output;
pub(super) mod placeholders;
mod repeated_findings;
pub(super) mod reviewed;
mod setting;
mod settings;

pub(super) use config::Ignores;
pub(super) use setting::Setting;

use super::baseline_file;
use super::estimate::Asked;
use super::exit_code::FailOn;
use super::outputs;
use super::terminal;
use super::{Exit, input};
use crate::kubernetes_version::Version;
use crate::report::Unread;
use crate::report::ci::log_text;
use crate::report::text::View;
use baselines::{Baselines, Number};
use config::{Choice, Group};
use filter::{Filter, Least};
use output::{Output, Part, Shown, Target};
use settings::{AudienceArgument, Format, ModeArgument};
use std::collections::BTreeSet;
use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    #[command(flatten)]
    input: input::Inputs,
    /// Admission mode that the review applies; default: the mode of the object's namespace, else enforce
    #[arg(long, value_enum)]
    mode: Option<ModeArgument>,
    /// Kubernetes version of the cluster, such as 1.36. The command refuses versions of Kubernetes before 1.33. If a
    /// finding applies only to some versions of Kubernetes, its message names these versions
    #[arg(long, value_name = "VERSION", value_parser = settings::kube_version)]
    kube_version: Option<Version>,
    /// Caller of the webhook. The review uses only the cluster objects that the webhook uses for this caller; default:
    /// all cluster objects
    #[arg(long, value_enum, value_name = "WHO")]
    audience: Option<AudienceArgument>,
    /// Namespaces of network operators and device plugins. With --audience, the review uses SriovNetworkNodePolicies
    /// and other objects that describe the cluster only in the listed namespaces and in namespace default
    #[arg(
        long, value_name = "NAMESPACE", value_delimiter = ',', value_parser = input::namespace, requires = "audience",
        default_values = input::OPERATOR_NAMESPACES
    )]
    operator_namespaces: Vec<String>,
    /// Output format: text, json, yaml, patch, diff, sarif, junit, github or gitlab. With FORMAT=FILE, the command
    /// writes to a file; repeatable
    #[arg(long, short, value_name = "FORMAT[=FILE]", value_parser = outputs::parse::<Format>, default_value = "text")]
    output: Vec<outputs::Output<Format>>,
    /// Lowest severity of a finding for which the command exits with code 1; default: error
    #[arg(long, value_enum)]
    fail_on: Option<FailOn>,
    /// Use this configuration file for all inputs. Without this flag, the command looks for .fabric-admission.yaml in
    /// the directory of each input, and then in the directories above
    #[arg(long, value_name = "FILE", conflicts_with = "no_config")]
    config: Option<PathBuf>,
    /// Use no configuration file, only flags
    #[arg(long)]
    no_config: bool,
    /// Compare with a baseline file: only new findings count for the exit code. The output marks the findings of the
    /// baseline
    #[arg(long, value_name = "FILE", visible_alias = "new-since")]
    baseline: Option<PathBuf>,
    /// Write the findings to a baseline file, for --baseline
    #[arg(long, value_name = "FILE")]
    write_baseline: Option<PathBuf>,
    /// Show only findings of this rule, such as FAB301; repeatable, or a list with commas
    #[arg(long, value_name = "ID", value_delimiter = ',', value_parser = filter::rule)]
    rule: Vec<&'static str>,
    /// Lowest severity of the findings that are shown
    #[arg(long, value_enum, default_value_t = Least::Info)]
    severity: Least,
    /// In text output, leave out changes, skipped objects, and objects without findings
    #[arg(long)]
    only_findings: bool,
    /// Write nothing to standard output. This flag does not change the exit code, the files of --output or the errors on
    /// standard error
    #[arg(long, short, conflicts_with_all = ["verbose", "only_findings"])]
    quiet: bool,
    /// For each workload, add an estimate of a training step to the text output. Example:
    /// parameters=7B,compute=1.2s,rate=400. Key `parameters` is the number of parameters of the model, `compute` is the
    /// compute time of a step, and `rate` is the line rate of a rail in Gb/s. Key `rate` is optional if the profile has
    /// field preflight.rate. Add precision=fp32 if the gradients are not bf16
    #[arg(long, value_name = "KEY=VALUE,...", value_parser = super::estimate::asked)]
    estimate: Option<Asked>,
    /// Show all findings. Without this flag, the output hides info findings about settings that are often intended.
    /// Output json always has all findings
    #[arg(long, short)]
    verbose: bool,
}

pub(super) fn run(arguments: &Arguments, out: &mut dyn Write, err: &mut dyn Write) -> io::Result<Exit> {
    if let Some(clash) = outputs::clash(&arguments.output) {
        writeln!(err, "error: --output: {clash}")?;
        return Ok(Exit::Usage);
    }
    let choice = match (&arguments.config, arguments.no_config) {
        (Some(file), _) => Choice::File(file),
        (None, true) => Choice::None,
        (None, false) => Choice::Nearest,
    };
    let groups = match config::groups(arguments.input.paths(), &choice) {
        Ok(groups) => groups,
        Err(problem) => {
            let Unread { file, line, column, message } = problem;
            writeln!(err, "error: {}:{line}:{column}: {}", log_text(&file), log_text(&message))?;
            return Ok(Exit::Usage);
        }
    };
    let written = arguments.output.iter().filter_map(|output| output.file.as_deref());
    let inputs = inputs_among(written.chain(arguments.write_baseline.as_deref()), &groups);
    // Everything is read before anything is written.
    let mut baselines = Baselines::new(arguments.write_baseline.is_some());
    let mut reviews = Vec::new();
    for group in groups {
        let baseline = match baseline(arguments, &group, &mut baselines) {
            Ok(baseline) => baseline,
            Err(message) => {
                writeln!(err, "error: --baseline: {}", log_text(&message))?;
                return Ok(Exit::Usage);
            }
        };
        match prepare(arguments, group, baseline, err)? {
            Ok(review) => reviews.push(review),
            Err(exit) => return Ok(exit),
        }
    }
    if let Some(file) = arguments.write_baseline.as_deref().filter(|file| is_input(file, &inputs)) {
        writeln!(
            err,
            "error: --write-baseline: {}: this file is an input",
            log_text(&file.display().to_string())
        )?;
        return Ok(Exit::Usage);
    }
    let mut targets = Vec::new();
    let mut out = Some(out);
    for outputs::Output { format, file } in &arguments.output {
        let writer: Box<dyn Write> = match (file, out.take_if(|_| file.is_none())) {
            (Some(file), _) => match create(file, &inputs) {
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
    let mut output = Output::begin(
        targets,
        Shown { view, filter, quiet: arguments.quiet, estimate: arguments.estimate },
        baselines,
    )?;
    let mut fails = false;
    for Review { mut prepared, setting, fail_on, baseline } in reviews {
        let unread = std::mem::take(&mut prepared.unread);
        let part = Part {
            loaded: &prepared.loaded,
            snapshot: &prepared.snapshot,
            setting: &setting,
            fails: fail_on.severity(),
            baseline,
        };
        let worst = output.add(part, unread, err)?;
        fails |= Exit::of_review(false, worst, fail_on) == Exit::Findings;
    }
    let (summary, baseline) = output.end(err)?;
    // The old file stays until there is a new one.
    if let (Some(path), Some(baseline)) = (&arguments.write_baseline, baseline)
        && let Err(error) =
            File::create(path).and_then(|file| baseline_file::write(file, &baseline.head, baseline.entries()))
    {
        writeln!(err, "error: --write-baseline: {}: {error}", path.display())?;
        return Ok(Exit::Internal);
    }
    Ok(match (summary.partial, fails) {
        (true, _) => Exit::Usage,
        (false, true) => Exit::Findings,
        (false, false) => Exit::Clean,
    })
}

/// The inputs of one configuration, ready to be reviewed.
struct Review {
    prepared: input::Prepared,
    setting: Setting,
    fail_on: FailOn,
    baseline: Option<Number>,
}

/// Reads the baseline of some inputs. The first baseline is written where a configuration names it.
fn baseline(
    arguments: &Arguments,
    group: &Group,
    baselines: &mut Baselines,
) -> Result<Option<Number>, String> {
    let path = match (&arguments.baseline, &group.config.baseline) {
        (Some(path), _) => path,
        (None, Some(path)) if arguments.write_baseline.is_some() && !path.exists() => return Ok(None),
        // A device or a pipe may never end, and a change of others may bring the configuration.
        (None, Some(path)) if path.exists() && !path.is_file() => {
            return Err(format!("{}: a baseline in a configuration is a regular file", path.display()));
        }
        (None, Some(path)) => path,
        (None, None) => return Ok(None),
    };
    baselines.read(path).map(Some)
}

/// Reads inputs. Flags count more than their configuration.
fn prepare(
    arguments: &Arguments,
    group: Group,
    baseline: Option<Number>,
    err: &mut dyn Write,
) -> io::Result<Result<Review, Exit>> {
    let Group { config, paths } = group;
    let audience = arguments.audience.or(config.audience);
    let operators = audience.map(|_| arguments.operator_namespaces.iter().cloned().collect());
    let inputs = arguments.input.with(paths, config.inputs);
    let mut prepared = match input::prepare(&inputs, operators, err)? {
        Ok(prepared) => prepared,
        Err(exit) => return Ok(Err(exit)),
    };
    let setting = Setting {
        namespace: std::mem::take(&mut prepared.namespace),
        mode: arguments.mode.or(config.mode).map(ModeArgument::mode),
        profile: prepared.profile.take(),
        audience: audience.map(AudienceArgument::audience),
        ignores: config.ignores,
        why: false,
        estimate: arguments.estimate,
    };
    let fail_on = arguments.fail_on.or(config.fail_on).unwrap_or(FailOn::Error);
    Ok(Ok(Review { prepared, setting, fail_on, baseline }))
}

/// Creates a file for results. An input is never overwritten.
fn create(file: &Path, inputs: &BTreeSet<PathBuf>) -> Result<File, String> {
    if is_input(file, inputs) {
        return Err("this file is an input".to_owned());
    }
    File::create(file).map_err(|error| error.to_string())
}

fn is_input(file: &Path, inputs: &BTreeSet<PathBuf>) -> bool {
    file.canonicalize().is_ok_and(|existing| inputs.contains(&existing))
}

/// The inputs among the files that are to be written.
fn inputs_among<'a>(written: impl Iterator<Item = &'a Path>, groups: &[Group]) -> BTreeSet<PathBuf> {
    let existing: BTreeSet<PathBuf> = written.filter_map(|file| file.canonicalize().ok()).collect();
    if existing.is_empty() {
        return existing;
    }
    let inputs = groups.iter().flat_map(|group| &group.paths).filter_map(|path| path.canonicalize().ok());
    inputs.filter(|input| existing.contains(input)).collect()
}

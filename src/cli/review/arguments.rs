//! Flags of `review`.

use super::kube_version::parse_supported_kube_version;
use super::mode_and_audience::{AudienceArgument, ModeArgument};
use super::output_format::Format;
use super::shown_findings::{self, LeastSeverity};
use crate::cli::estimate::EstimateRequest;
use crate::cli::fail_on_flag::FailOn;
use crate::cli::{input, output_flag};
use crate::kubernetes_version::Version;
use std::path::PathBuf;

#[derive(Debug, clap::Args)]
pub(in crate::cli) struct Arguments {
    #[command(flatten)]
    pub(super) input: input::InputFlags,
    /// Admission mode that the review applies; default: the mode of the object's namespace, else enforce
    #[arg(long, value_enum)]
    pub(super) mode: Option<ModeArgument>,
    /// Kubernetes version of the cluster, such as 1.36. The command refuses versions of Kubernetes before 1.33. If a
    /// finding applies only to some versions of Kubernetes, its message names these versions
    #[arg(long, value_name = "VERSION", value_parser = parse_supported_kube_version)]
    pub(super) kube_version: Option<Version>,
    /// Caller of the webhook. With this flag, the review uses only the cluster objects that the webhook uses for this
    /// caller. Without this flag, the review uses all cluster objects
    #[arg(long, value_enum, value_name = "WHO")]
    pub(super) audience: Option<AudienceArgument>,
    /// Namespaces of network operators and device plugins. With --audience, the review ignores SriovNetworkNodePolicies
    /// and other objects that describe the cluster, unless they are in a listed namespace or in namespace default
    #[arg(
        long, value_name = "NAMESPACE", value_delimiter = ',', value_parser = input::parse_namespace, requires = "audience",
        default_values = input::OPERATOR_NAMESPACES
    )]
    pub(super) operator_namespaces: Vec<String>,
    /// Output format: text, json, yaml, patch, diff, sarif, junit, github or gitlab. With FORMAT=FILE, the command
    /// writes to a file; repeatable
    #[arg(long, short, value_name = "FORMAT[=FILE]", value_parser = output_flag::parse::<Format>, default_value = "text")]
    pub(super) output: Vec<output_flag::Output<Format>>,
    /// Lowest severity of a finding for which the command exits with code 1; default: error
    #[arg(long, value_enum)]
    pub(super) fail_on: Option<FailOn>,
    /// Use this configuration file for all inputs. Without this flag, the command looks for .fabric-admission.yaml in
    /// the directory of each input, and then in the directories above
    #[arg(long, value_name = "FILE", conflicts_with = "no_config")]
    pub(super) config: Option<PathBuf>,
    /// Use no configuration file, only flags
    #[arg(long)]
    pub(super) no_config: bool,
    /// Compare with a baseline file: only new findings count for the exit code. The output marks the findings of the
    /// baseline
    #[arg(long, value_name = "FILE", visible_alias = "new-since")]
    pub(super) baseline: Option<PathBuf>,
    /// Write the findings to a baseline file, for --baseline
    #[arg(long, value_name = "FILE")]
    pub(super) write_baseline: Option<PathBuf>,
    /// Show only findings of this rule, such as FAB301; repeatable, or a list with commas
    #[arg(long, value_name = "ID", value_delimiter = ',', value_parser = shown_findings::parse_rule_id)]
    pub(super) rule: Vec<&'static str>,
    /// Lowest severity of the findings that are shown
    #[arg(long, value_enum, default_value_t = LeastSeverity::DEFAULT)]
    pub(super) severity: LeastSeverity,
    /// In text output, leave out changes, skipped objects, and objects without findings
    #[arg(long)]
    pub(super) only_findings: bool,
    /// Write nothing to standard output. This flag does not change the exit code, the files of --output or the errors on
    /// standard error
    #[arg(long, short, conflicts_with_all = ["verbose", "only_findings"])]
    pub(super) quiet: bool,
    /// For each workload, add an estimate of a training step to the text output. Example:
    /// parameters=7B,compute=1.2s,rate=400. Key `parameters` is the number of parameters of the model, `compute` is the
    /// compute time of a step, and `rate` is the line rate of a rail in Gb/s. Key `rate` is optional if the profile has
    /// field preflight.rate. Add precision=fp32 if the gradients are not bf16
    #[arg(long, value_name = "KEY=VALUE,...", value_parser = crate::cli::estimate::parse_estimate_flag)]
    pub(super) estimate: Option<EstimateRequest>,
    /// Show all findings. Without this flag, the output hides info findings about settings that are often intended.
    /// JSON output always has all findings
    #[arg(long, short)]
    pub(super) verbose: bool,
}

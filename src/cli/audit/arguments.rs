//! Flags of `audit`.

use crate::cli::fail_on_flag::FailOn;
use crate::cli::input;
use crate::cli::output_flag::{self, Output};
use clap::ValueEnum;
use std::path::{Path, PathBuf};

/// Deadline of each request (seconds).
const REQUEST_TIMEOUT: u16 = 30;

#[derive(Debug, clap::Args)]
#[command(group = clap::ArgGroup::new("cluster-source").required(true))]
pub(in crate::cli) struct Arguments {
    /// Read a cluster through its API server
    #[arg(long, group = "cluster-source")]
    pub(super) live: bool,
    /// File or directory with the objects of a cluster, such as the output of kubectl get -A -o yaml; repeatable
    #[arg(long, value_name = "PATH", group = "cluster-source")]
    pub(super) cluster: Vec<PathBuf>,
    /// Context in the kubeconfig, for --live; default: the current context
    #[arg(long, value_name = "NAME", requires = "live", conflicts_with = "cluster")]
    pub(super) context: Option<String>,
    /// Kubeconfig file, for --live; default: the first file in environment variable KUBECONFIG, else ~/.kube/config
    #[arg(long, value_name = "FILE", requires = "live", conflicts_with = "cluster")]
    pub(super) kubeconfig: Option<PathBuf>,
    /// Maximum number of objects in one list request, for --live; default: as many objects as fit in about 1 MB
    #[arg(long, value_name = "COUNT", requires = "live", conflicts_with = "cluster", value_parser = clap::value_parser!(u16).range(1..=500))]
    pub(super) page_size: Option<u16>,
    /// Deadline of each request, in seconds, for --live
    #[arg(long, value_name = "SECONDS", default_value_t = REQUEST_TIMEOUT, value_parser = clap::value_parser!(u16).range(1..))]
    pub(super) request_timeout: u16,
    /// Audit only this namespace
    #[arg(long, short, value_name = "NS", value_parser = input::parse_namespace)]
    pub(super) namespace: Option<String>,
    /// Use this FabricProfile, built in or from --profiles, for every pod with accelerators; ignore the profile
    /// annotations of the pods
    #[arg(long, value_name = "NAME")]
    pub(super) profile: Option<String>,
    /// File or directory with FabricProfiles; if one FabricProfile is invalid, the command fails
    #[arg(long, value_name = "PATH")]
    pub(super) profiles: Option<PathBuf>,
    /// Output format: text or json. With FORMAT=FILE, the command writes to a file; repeatable
    #[arg(long, short, value_name = "FORMAT[=FILE]", default_value = "text", value_parser = output_flag::parse::<Format>)]
    pub(super) output: Vec<Output<Format>>,
    /// Write the findings to a baseline file, for --new-since
    #[arg(long, value_name = "FILE")]
    pub(super) write_baseline: Option<PathBuf>,
    /// Compare with a baseline file: the exit code depends only on new findings and on results that cannot be compared
    #[arg(long, value_name = "FILE")]
    pub(super) new_since: Option<PathBuf>,
    /// Lowest severity of a finding for which the command exits with code 1
    #[arg(long, value_enum, default_value_t = FailOn::DEFAULT)]
    pub(super) fail_on: FailOn,
    /// In text output, list every workload in scope, every change and every finding
    #[arg(long, short)]
    pub(super) verbose: bool,
    #[command(flatten)]
    pub(super) choice: input::ClusterSettingFlags,
}

/// A cluster for another command.
#[derive(Clone, Copy)]
pub(in crate::cli) struct Source<'a> {
    pub(in crate::cli) live: bool,
    pub(in crate::cli) cluster: &'a [PathBuf],
    pub(in crate::cli) context: Option<&'a str>,
    pub(in crate::cli) kubeconfig: Option<&'a Path>,
    pub(in crate::cli) profiles: Option<&'a Path>,
    pub(in crate::cli) choice: &'a input::ClusterSettingFlags,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum Format {
    /// Text for a terminal
    Text,
    /// One JSON document, schema fabric-admission.dev/audit/v1
    Json,
}

impl Arguments {
    /// An audit for another command, which writes its result.
    pub(in crate::cli) fn of_cluster(source: Source<'_>) -> Self {
        Self {
            live: source.live,
            cluster: source.cluster.to_vec(),
            context: source.context.map(str::to_owned),
            kubeconfig: source.kubeconfig.map(Path::to_path_buf),
            page_size: None,
            request_timeout: REQUEST_TIMEOUT,
            namespace: None,
            profile: None,
            profiles: source.profiles.map(Path::to_path_buf),
            // Names the missing kinds on stderr.
            output: Vec::new(),
            write_baseline: None,
            new_since: None,
            fail_on: FailOn::Never,
            verbose: false,
            choice: source.choice.clone(),
        }
    }

    /// Whether standard output has the text, which names the missing kinds itself.
    pub(super) fn shows_text(&self) -> bool {
        self.output.iter().any(|output| output.format == Format::Text && output.file.is_none())
    }
}

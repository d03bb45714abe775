//! `doctor`: reads a cluster, and reports what `crate::doctor` decides about it.

mod account;
mod installation;
mod read;
mod replicas;
mod wanted_rights;

use super::Exit;
use super::values::Seconds;
use crate::cluster::client::{connect, in_cluster};
use crate::doctor::report::Report;
use crate::doctor::table;
use clap::ValueEnum;
use std::io::{self, Write};
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// Between two tries.
const PAUSE: Duration = Duration::from_secs(1);

#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    /// Check the cluster before an installation
    #[arg(long)]
    pre: bool,
    /// Output format
    #[arg(long, short, value_enum, default_value_t = Format::Table)]
    output: Format,
    /// Time limit for failed checks that may still succeed, such as 90s or 2m; default: each check runs once
    #[arg(long, value_name = "DURATION", default_value = "0s", hide_default_value = true)]
    wait: Seconds,
    /// Namespace of the installation; default: the namespace that the webhook configurations name, else
    /// fabric-admission
    #[arg(long, short, value_name = "NS", value_parser = super::input::namespace)]
    namespace: Option<String>,
    /// Kubeconfig file; default: the first file in environment variable KUBECONFIG, else ~/.kube/config, else the pod's
    /// service account
    #[arg(long, value_name = "FILE")]
    kubeconfig: Option<PathBuf>,
    /// Context in the kubeconfig; default: the current context
    #[arg(long, value_name = "NAME")]
    context: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Format {
    /// Text for a terminal
    Table,
    /// One JSON document, schema fabric-admission.dev/doctor/v1
    Json,
}

pub(super) fn run(arguments: &Arguments, out: &mut dyn Write, err: &mut dyn Write) -> io::Result<Exit> {
    let kubeconfig = super::input::live::kubeconfig(arguments.kubeconfig.as_deref());
    if kubeconfig.is_none() && !in_cluster() {
        writeln!(err, "error: no cluster: set --kubeconfig FILE or variable KUBECONFIG")?;
        return Ok(Exit::Usage);
    }
    let runtime = match tokio::runtime::Builder::new_current_thread().enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => {
            writeln!(err, "error: cannot start the runtime: {error}")?;
            return Ok(Exit::Internal);
        }
    };
    let client = match runtime.block_on(connect(kubeconfig.as_deref(), arguments.context.as_deref())) {
        Ok(client) => client,
        Err(error) => {
            writeln!(err, "error: {error}")?;
            return Ok(Exit::of_client(&error));
        }
    };
    let limit = Duration::from_secs(arguments.wait.0.unsigned_abs());
    let began = Instant::now();
    let mut waiting = Vec::new();
    let report = loop {
        let facts =
            match runtime.block_on(read::facts(&client, arguments.pre, arguments.namespace.as_deref())) {
                Ok(facts) => facts,
                Err(_) if began.elapsed() < limit => {
                    std::thread::sleep(PAUSE);
                    continue;
                }
                Err(error) => {
                    writeln!(err, "error: {error}")?;
                    return Ok(Exit::Internal);
                }
            };
        let report = Report::of(&facts, arguments.pre);
        let failed: Vec<&'static str> = report.worth_waiting().map(|check| check.id).collect();
        if failed.is_empty() || began.elapsed() >= limit {
            break report;
        }
        if failed != waiting {
            writeln!(err, "waiting for: {}", failed.join(", "))?;
            waiting = failed;
        }
        std::thread::sleep(PAUSE);
    };
    match arguments.output {
        Format::Table => table::write(out, &report)?,
        Format::Json => {
            serde_json::to_writer_pretty(&mut *out, &report)?;
            writeln!(out)?;
        }
    }
    Ok(if report.success { Exit::Clean } else { Exit::Findings })
}

//! `doctor`: reads a cluster, and reports what `crate::doctor` decides about it.

mod access_reviews;
mod certificates_of_replicas;
mod installed_settings;
mod read_facts_and_send_dry_runs;
mod repeat_until_ok;
mod wanted_rights;

use super::Exit;
use super::flag_values::DurationWithUnit;
use crate::cli::lines_on_stderr::write_error;
use crate::cli::pretty_json::write_pretty_json;
use crate::cluster::api_client::{
    ClientAndAddress, create_client_and_address, is_in_pod_with_service_account,
};
use crate::doctor::report_table;
use clap::ValueEnum;
use std::io::{self, Write};
use std::path::PathBuf;
use std::time::Duration;

#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    /// Check the cluster before an installation
    #[arg(long)]
    pre: bool,
    /// Output format
    #[arg(long, short, value_enum, default_value_t = Format::Table)]
    output: Format,
    /// How long doctor repeats failed checks that may still succeed, such as 90s or 2m; default: each check runs once
    #[arg(long, value_name = "DURATION", default_value = "0s", hide_default_value = true)]
    wait: DurationWithUnit,
    /// Namespace of the installation; default: the namespace that the webhook configurations name, else
    /// fabric-admission
    #[arg(long, short, value_name = "NS", value_parser = super::input::parse_namespace)]
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
    let kubeconfig = super::input::facts_of_live_cluster::find_kubeconfig(arguments.kubeconfig.as_deref());
    if kubeconfig.is_none() && !is_in_pod_with_service_account() {
        write_error(err, format_args!("no cluster: set --kubeconfig FILE or variable KUBECONFIG"))?;
        return Ok(Exit::Usage);
    }
    let runtime = match tokio::runtime::Builder::new_current_thread().enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => {
            write_error(err, format_args!("cannot start the runtime: {error}"))?;
            return Ok(Exit::Internal);
        }
    };
    let found =
        runtime.block_on(create_client_and_address(kubeconfig.as_deref(), arguments.context.as_deref()));
    let ClientAndAddress { client, address } = match found {
        Ok(found) => found,
        Err(error) => {
            write_error(err, format_args!("{error}"))?;
            return Ok(Exit::of_client(&error));
        }
    };
    let checked = (arguments.pre, arguments.namespace.as_deref());
    let limit = Duration::from_secs(arguments.wait.0.unsigned_abs());
    let report =
        match runtime.block_on(repeat_until_ok::check_until_ok_or_time_over(&client, checked, limit, err)) {
            Ok(report) => report,
            Err(error) => {
                write_error(err, format_args!("{address}: {error}"))?;
                return Ok(Exit::Internal);
            }
        };
    match arguments.output {
        Format::Table => report_table::write(out, &report)?,
        Format::Json => {
            write_pretty_json(out, &report)?;
        }
    }
    Ok(if report.success { Exit::Clean } else { Exit::Findings })
}

//! `serve`: the admission webhook.

mod arguments;
mod certificate_flags;
mod client_ca_flags;
mod facts_from_cluster_or_files;
mod limit_flags;

use super::Exit;
use super::input::read_facts_for_server;
use crate::cli::lines_on_stderr::write_error;
use crate::facts::EnforcementMode;
use crate::server::{self, Facts, Limits, LogDecisions, Settings};
use arguments::{Decisions, NetworkObjects, Workloads};
use facts_from_cluster_or_files::{
    do_facts_come_from_api_server, fingerprint_files_for_later_checks, start_runtime,
    start_watch_runtime_and_client,
};
use limit_flags::cores;
use std::io::{self, Write};
use std::time::Duration;

pub(super) use arguments::Arguments;

pub(super) fn run(arguments: &Arguments, err: &mut dyn Write) -> io::Result<Exit> {
    // Before the files are read, so that a change in between is seen.
    let source = fingerprint_files_for_later_checks(arguments);
    let live = do_facts_come_from_api_server(arguments);
    let (profiles, cluster) = (arguments.profiles.as_deref(), &arguments.cluster);
    let Some((builder, snapshot)) =
        read_facts_for_server(profiles, cluster, &arguments.server_settings(), live, err)?
    else {
        return Ok(Exit::Usage);
    };
    // A decision takes tens of microseconds: four cores serve any cluster, and a node may have two hundred.
    let workers = cores().min(4);
    let runtime = match start_runtime(workers) {
        Ok(runtime) => runtime,
        Err(error) => {
            write_error(err, format_args!("the server cannot start: {error}"))?;
            return Ok(Exit::Internal);
        }
    };
    let certificate =
        match arguments.tls.check_flags_and_make_source(arguments.kubeconfig.as_deref(), &runtime) {
            Ok(certificate) => certificate,
            Err(error) => {
                write_error(err, format_args!("{error}"))?;
                return Ok(Exit::Usage);
            }
        };
    let settings = Settings {
        bind: arguments.bind,
        admin_bind: arguments.admin_bind,
        certificate,
        tls12: arguments.tls.tls12(),
        clients: arguments.clients.settings(arguments.tls.check_interval()),
        workloads: match arguments.workloads {
            Workloads::Off => None,
            Workloads::Warn => Some(EnforcementMode::Audit),
            Workloads::Deny => Some(EnforcementMode::Enforce),
        },
        network_objects: match arguments.network_objects {
            NetworkObjects::Off => None,
            NetworkObjects::Audit => Some(EnforcementMode::Audit),
            NetworkObjects::Enforce => Some(EnforcementMode::Enforce),
        },
        log_decisions: match arguments.log_decisions {
            Decisions::All => LogDecisions::All,
            Decisions::Notable => LogDecisions::Notable,
            Decisions::None => LogDecisions::None,
        },
        lame_duck: Duration::from_secs_f64(arguments.lame_duck),
    };
    // Dropped last, so that log lines of the shutdown are written too.
    let writing = match crate::telemetry::install_log_writer_and_panic_hook() {
        Ok(writing) => writing,
        Err(error) => {
            write_error(err, format_args!("the server cannot start: {error}"))?;
            return Ok(Exit::Internal);
        }
    };
    let mut watching = None;
    let facts = if live {
        match start_watch_runtime_and_client(arguments, builder) {
            Ok((of_watches, live)) => {
                watching = Some(of_watches);
                Facts::Live(Box::new(live))
            }
            Err(error) => {
                write_error(err, format_args!("{error}"))?;
                return Ok(Exit::Usage);
            }
        }
    } else {
        source.map_or(Facts::Fixed, Facts::Files)
    };
    let limits = Limits { drain: Duration::from_secs_f64(arguments.drain), ..arguments.budgets.limits() };
    let outcome = runtime.block_on(server::run(settings, limits, snapshot, facts, |webhook, admin| {
        // One line on stderr that scripts wait for, whatever the level of the logs is.
        let line = serde_json::json!({"event": "listening", "webhook": webhook.to_string(), "admin": admin.to_string()});
        writing.write_line(&line);
    }));
    if let Some(watching) = watching {
        watching.shutdown_background();
    }
    runtime.shutdown_timeout(Duration::from_secs(1));
    match outcome {
        Ok(()) => Ok(Exit::Clean),
        Err(error @ server::RunError::Tls(_)) => {
            write_error(err, format_args!("{error}"))?;
            Ok(Exit::Usage)
        }
        Err(error) => {
            write_error(err, format_args!("{error}"))?;
            Ok(Exit::Internal)
        }
    }
}

//! `serve`: the admission webhook.

use super::Exit;
use super::budgets::Budgets;
use super::clients::Clients;
use super::input::{Choice, facts_from_files, files};
use super::values::{identity, seconds};
use crate::cluster::{self, Pace};
use crate::facts::Mode;
use crate::server::{self, Facts, Limits, Live, Look, Settings, Source, StatusWriter};
use crate::snapshot::Builder;
use clap::ValueEnum;
use std::io::{self, Write};
use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;
use tokio::runtime::Runtime;

#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    /// Address of the webhook port (TLS)
    #[arg(long, env = "FABRIC_ADMISSION_BIND", default_value = "0.0.0.0:8443")]
    bind: SocketAddr,
    /// Address of the admin port (plain HTTP): /livez, /readyz, /metrics
    #[arg(long, env = "FABRIC_ADMISSION_ADMIN_BIND", default_value = "0.0.0.0:8080")]
    admin_bind: SocketAddr,
    #[command(flatten)]
    tls: super::tls::Tls,
    /// FabricProfiles: a file or directory; all of them load or none
    #[arg(long, value_name = "PATH", env = "FABRIC_ADMISSION_PROFILES")]
    profiles: Option<PathBuf>,
    /// Facts about the cluster from files of Kubernetes objects
    #[arg(long, value_name = "PATH", env = "FABRIC_ADMISSION_CLUSTER", value_delimiter = ',')]
    cluster: Vec<PathBuf>,
    #[command(flatten)]
    choice: Choice,
    /// Seconds between looks at the files of --profiles and --cluster
    #[arg(long, value_name = "SECONDS", env = "FABRIC_ADMISSION_FACTS_POLL", default_value_t = 10.0, value_parser = seconds)]
    facts_poll: f64,
    /// API server to watch; without it the pod's service account, where there is one and --cluster is not given
    #[arg(long, value_name = "FILE", env = "FABRIC_ADMISSION_KUBECONFIG")]
    kubeconfig: Option<PathBuf>,
    /// Longest pause before a watch that failed, or a kind that is absent, is tried again
    #[arg(long, value_name = "SECONDS", env = "FABRIC_ADMISSION_WATCH_RETRY", default_value_t = 10.0, value_parser = seconds)]
    watch_retry: f64,
    /// Time limit that is asked of a watch
    #[arg(long, value_name = "SECONDS", env = "FABRIC_ADMISSION_WATCH_TIMEOUT", default_value_t = 120.0, value_parser = seconds)]
    watch_timeout: f64,
    /// Write what is found about FabricProfiles into their status; of several replicas one does, by a Lease
    #[arg(
        long, value_name = "BOOL", env = "FABRIC_ADMISSION_PROFILE_STATUS", action = clap::ArgAction::Set,
        num_args = 0..=1, default_value_t = false, default_missing_value = "true"
    )]
    profile_status: bool,
    /// Silence of the API server after which answers say that facts are old
    #[arg(long, value_name = "SECONDS", env = "FABRIC_ADMISSION_STALE_AFTER", default_value_t = 600.0, value_parser = seconds)]
    stale_after: f64,
    /// What is done about Jobs and other workloads of namespaces that enforce
    #[arg(long, value_enum, env = "FABRIC_ADMISSION_WORKLOADS", default_value_t = Workloads::Warn)]
    workloads: Workloads,
    /// What is done about network objects
    #[arg(long, value_enum, env = "FABRIC_ADMISSION_NETWORK_OBJECTS", default_value_t = NetworkObjects::Audit)]
    network_objects: NetworkObjects,
    /// Seconds that connections are still taken after SIGTERM
    #[arg(long, value_name = "SECONDS", env = "FABRIC_ADMISSION_LAME_DUCK", default_value_t = 5.0, value_parser = seconds)]
    lame_duck: f64,
    /// Seconds after that in which open connections are left to their clients; API servers end idle ones after 90
    #[arg(long, value_name = "SECONDS", env = "FABRIC_ADMISSION_DRAIN", default_value_t = 95.0, value_parser = seconds)]
    drain: f64,
    #[command(flatten)]
    budgets: Budgets,
    #[command(flatten)]
    clients: Clients,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum Workloads {
    /// Let them through; their pods are judged all the same
    Off,
    /// Warn
    Warn,
    /// Refuse those whose pods would be refused
    Deny,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum NetworkObjects {
    /// Let them through
    Off,
    /// Warn
    Audit,
    /// Refuse what cannot work
    Enforce,
}

pub(super) fn run(arguments: &Arguments, err: &mut dyn Write) -> io::Result<Exit> {
    // Before the files are read, so that a change in between is seen.
    let source = source(arguments);
    let live =
        arguments.kubeconfig.is_some() || (arguments.cluster.is_empty() && cluster::client::in_cluster());
    let (profiles, cluster) = (arguments.profiles.as_deref(), &arguments.cluster);
    let Some((builder, snapshot)) = facts_from_files(profiles, cluster, &arguments.choice, live, err)? else {
        return Ok(Exit::Usage);
    };
    // A decision takes tens of microseconds: four cores serve any cluster, and a node may have two hundred.
    let workers = std::thread::available_parallelism().map_or(2, std::num::NonZero::get).min(4);
    let runtime = match start_runtime(workers) {
        Ok(runtime) => runtime,
        Err(error) => {
            writeln!(err, "error: cannot start: {error}")?;
            return Ok(Exit::Internal);
        }
    };
    let certificate = match arguments.tls.certificate(arguments.kubeconfig.as_deref(), &runtime) {
        Ok(certificate) => certificate,
        Err(error) => {
            writeln!(err, "error: {error}")?;
            return Ok(Exit::Usage);
        }
    };
    let settings = Settings {
        bind: arguments.bind,
        admin_bind: arguments.admin_bind,
        certificate,
        tls12: arguments.tls.tls12(),
        clients: arguments.clients.settings(arguments.tls.poll()),
        workloads: match arguments.workloads {
            Workloads::Off => None,
            Workloads::Warn => Some(Mode::Audit),
            Workloads::Deny => Some(Mode::Enforce),
        },
        network_objects: match arguments.network_objects {
            NetworkObjects::Off => None,
            NetworkObjects::Audit => Some(Mode::Audit),
            NetworkObjects::Enforce => Some(Mode::Enforce),
        },
        lame_duck: Duration::from_secs_f64(arguments.lame_duck),
    };
    crate::telemetry::install();
    let mut watching = None;
    let facts = if live {
        match live_facts(arguments, builder) {
            Ok((of_watches, live)) => {
                watching = Some(of_watches);
                Facts::Live(Box::new(live))
            }
            Err(error) => {
                writeln!(err, "error: {error}")?;
                return Ok(Exit::Usage);
            }
        }
    } else {
        source.map_or(Facts::Fixed, Facts::Files)
    };
    let limits = Limits { drain: Duration::from_secs_f64(arguments.drain), ..arguments.budgets.limits() };
    let outcome = runtime.block_on(server::run(settings, limits, snapshot, facts, |webhook, admin| {
        // One line on stderr that scripts wait for; the logs are there too, so it goes past them.
        let line = serde_json::json!({"event": "listening", "webhook": webhook.to_string(), "admin": admin.to_string()});
        let _ = writeln!(io::stderr(), "{line}");
    }));
    if let Some(watching) = watching {
        watching.shutdown_background();
    }
    runtime.shutdown_timeout(Duration::from_secs(1));
    match outcome {
        Ok(()) => Ok(Exit::Clean),
        Err(error @ server::StartError::Tls(_)) => {
            writeln!(err, "error: {error}")?;
            Ok(Exit::Usage)
        }
        Err(error) => {
            writeln!(err, "error: {error}")?;
            Ok(Exit::Internal)
        }
    }
}

fn start_runtime(workers: usize) -> io::Result<Runtime> {
    tokio::runtime::Builder::new_multi_thread().worker_threads(workers).enable_all().build()
}

/// Connects to the API server. Watches have a thread of their own, so that a large list holds up no request.
fn live_facts(
    arguments: &Arguments,
    builder: Builder,
) -> Result<(Runtime, Live), Box<dyn std::error::Error>> {
    // A kind on which nothing happens is heard of once in each watch.
    if arguments.stale_after < 2.0 * arguments.watch_timeout {
        let (stale, watch) = (arguments.stale_after, arguments.watch_timeout);
        return Err(format!(
            "--stale-after {stale} is less than twice --watch-timeout {watch}: quiet kinds would count as old (FAB813) \
             between two watches; expected is at least {}",
            2.0 * watch
        )
        .into());
    }
    let watching = start_runtime(1)?;
    let client = watching.block_on(cluster::client::connect(arguments.kubeconfig.as_deref(), None))?;
    let pace = Pace {
        retry: Duration::from_secs_f64(arguments.watch_retry.max(0.05)),
        watch: Duration::from_secs_f64(arguments.watch_timeout.max(1.0)),
        stale: Duration::from_secs_f64(arguments.stale_after.max(1.0)),
    };
    let status_writer = arguments.profile_status.then(|| status_writer(&client));
    let live = Live { client, builder, pace, runtime: watching.handle().clone(), status_writer };
    Ok((watching, live))
}

fn status_writer(client: &kube::Client) -> StatusWriter {
    StatusWriter { namespace: client.default_namespace().to_owned(), identity: identity() }
}

/// Looks at the files of profiles and facts again; `None` where there are none.
fn source(arguments: &Arguments) -> Option<Source> {
    let (profiles, cluster) = (arguments.profiles.clone(), arguments.cluster.clone());
    let choice = arguments.choice.clone();
    let paths: Vec<PathBuf> = profiles.iter().chain(&cluster).cloned().collect();
    if paths.is_empty() {
        return None;
    }
    let mut known = files::fingerprint(&paths);
    let look = move || {
        let found = files::fingerprint(&paths);
        if found == known {
            return Look::Same;
        }
        known = found;
        let mut told = Vec::new();
        match facts_from_files(profiles.as_deref(), &cluster, &choice, false, &mut told) {
            Ok(Some((_, snapshot))) => Look::New(Box::new(snapshot)),
            Ok(None) => Look::Failed(String::from_utf8_lossy(&told).trim_end().to_owned()),
            Err(error) => Look::Failed(error.to_string()),
        }
    };
    Some(Source { every: Duration::from_secs_f64(arguments.facts_poll.max(0.05)), look: Box::new(look) })
}

//! `serve`: the admission webhook.

use super::Exit;
use super::client_certificates::Clients;
use super::input::{Choice, OPERATOR_NAMESPACES, ServerSettings, facts_from_files, files, namespace};
use super::limit_flags::{LimitFlags, cores};
use super::values::{identity, seconds};
use crate::cluster::{self, Pace};
use crate::facts::Mode;
use crate::server::{self, Facts, Limits, Live, LogDecisions, Look, Settings, Source, StatusWriter};
use crate::snapshot::Builder;
use clap::ValueEnum;
use std::io::{self, Write};
use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;
use tokio::runtime::Runtime;

#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    /// Address of the webhook port, which the API server calls over TLS
    #[arg(long, env = "FABRIC_ADMISSION_BIND", default_value = "0.0.0.0:8443")]
    bind: SocketAddr,
    /// Address of the admin port, which serves /livez, /readyz and /metrics over plain HTTP
    #[arg(long, env = "FABRIC_ADMISSION_ADMIN_BIND", default_value = "0.0.0.0:8080")]
    admin_bind: SocketAddr,
    #[command(flatten)]
    tls: super::tls::Tls,
    /// File or directory with FabricProfiles; if one FabricProfile is invalid, the server loads none of them
    #[arg(long, value_name = "PATH", env = "FABRIC_ADMISSION_PROFILES")]
    profiles: Option<PathBuf>,
    /// File or directory with Kubernetes objects that describe the cluster, such as Nodes and
    /// NetworkAttachmentDefinitions; repeatable
    #[arg(long, value_name = "PATH", env = "FABRIC_ADMISSION_CLUSTER", value_delimiter = ',')]
    cluster: Vec<PathBuf>,
    #[command(flatten)]
    choice: Choice,
    /// Namespaces of network operators and device plugins. The server uses SriovNetworkNodePolicies and other objects
    /// that describe the cluster only in the listed namespaces and in namespace default
    #[arg(
        long, value_name = "NAMESPACE", env = "FABRIC_ADMISSION_OPERATOR_NAMESPACES", value_delimiter = ',',
        value_parser = namespace, default_values = OPERATOR_NAMESPACES
    )]
    operator_namespaces: Vec<String>,
    /// Interval, in seconds, at which the server checks the files of --profiles and --cluster for changes
    #[arg(long, value_name = "SECONDS", env = "FABRIC_ADMISSION_FACTS_POLL", default_value_t = 10.0, value_parser = seconds)]
    facts_poll: f64,
    /// Kubeconfig file of the cluster that the server watches; default: the cluster in which the server runs. With
    /// --cluster and without --kubeconfig, the server reads the files of --cluster and does not connect to a cluster
    #[arg(long, value_name = "FILE", env = "FABRIC_ADMISSION_KUBECONFIG")]
    kubeconfig: Option<PathBuf>,
    /// Maximum pause, in seconds, before the server retries a failed watch, or checks again whether a missing CRD is
    /// installed
    #[arg(long, value_name = "SECONDS", env = "FABRIC_ADMISSION_WATCH_RETRY", default_value_t = Pace::DEFAULT.retry.as_secs_f64(), value_parser = seconds)]
    watch_retry: f64,
    /// Time limit of one watch request to the API server, in seconds (query parameter timeoutSeconds)
    #[arg(long, value_name = "SECONDS", env = "FABRIC_ADMISSION_WATCH_TIMEOUT", default_value_t = Pace::DEFAULT.watch.as_secs_f64(), value_parser = seconds)]
    watch_timeout: f64,
    /// Whether the server writes the problems of each FabricProfile to the status of that FabricProfile. Only the
    /// replica that holds a Lease writes the status
    #[arg(
        long, value_name = "BOOL", env = "FABRIC_ADMISSION_PROFILE_STATUS", action = clap::ArgAction::Set,
        num_args = 0..=1, default_value_t = false, default_missing_value = "true"
    )]
    profile_status: bool,
    /// Time without contact with the API server, in seconds, after which the webhook warns about old facts (FAB813)
    #[arg(long, value_name = "SECONDS", env = "FABRIC_ADMISSION_STALE_AFTER", default_value_t = Pace::DEFAULT.stale_after.as_secs_f64(), value_parser = seconds)]
    stale_after: f64,
    /// Whether the webhook may change pods; off stops all changes, in every namespace
    #[arg(long, value_enum, env = "FABRIC_ADMISSION_MUTATE", default_value_t = Mutate::On)]
    mutate: Mutate,
    /// What the webhook does with findings in Jobs and other workload objects, in namespaces with mode enforce
    #[arg(long, value_enum, env = "FABRIC_ADMISSION_WORKLOADS", default_value_t = Workloads::Warn)]
    workloads: Workloads,
    /// What the webhook does with findings in network objects, such as NetworkAttachmentDefinitions and
    /// SriovNetworkNodePolicies
    #[arg(long, value_enum, env = "FABRIC_ADMISSION_NETWORK_OBJECTS", default_value_t = NetworkObjects::Audit)]
    network_objects: NetworkObjects,
    /// Which decisions the server logs. A line has the namespace, owner, user, profile, rules and changes of one
    /// decision
    #[arg(long, value_enum, env = "FABRIC_ADMISSION_LOG_DECISIONS", default_value_t = Decisions::Notable)]
    log_decisions: Decisions,
    /// Time after SIGTERM, in seconds, in which the server still accepts new connections
    #[arg(long, value_name = "SECONDS", env = "FABRIC_ADMISSION_LAME_DUCK", default_value_t = 5.0, value_parser = seconds)]
    lame_duck: f64,
    /// Maximum time, in seconds, that the server waits for clients to close their connections. The server starts to
    /// wait when the time of --lame-duck ends. API servers close an idle connection after 90 s
    #[arg(long, value_name = "SECONDS", env = "FABRIC_ADMISSION_DRAIN", default_value_t = 95.0, value_parser = seconds)]
    drain: f64,
    #[command(flatten)]
    budgets: LimitFlags,
    #[command(flatten)]
    clients: Clients,
}

impl Arguments {
    fn server_settings(&self) -> ServerSettings<'_> {
        ServerSettings {
            choice: &self.choice,
            withhold_changes: self.mutate == Mutate::Off,
            operator_namespaces: &self.operator_namespaces,
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Mutate {
    /// Change pods
    On,
    /// Do not change pods. Deny a pod only if the pod has errors that the webhook's changes would not remove
    Off,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum Decisions {
    /// Every decision
    All,
    /// Pods that were changed, objects that were denied, and objects that would be denied in mode enforce
    Notable,
    /// No decision
    None,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum Workloads {
    /// Admit workloads without a check; their pods are still checked
    Off,
    /// Admit workloads, and report findings as warnings
    Warn,
    /// Deny a workload if the webhook would deny the workload's pods
    Deny,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum NetworkObjects {
    /// Admit network objects without a check
    Off,
    /// Admit network objects, and report findings as warnings
    Audit,
    /// Deny network objects that have findings of severity error
    Enforce,
}

pub(super) fn run(arguments: &Arguments, err: &mut dyn Write) -> io::Result<Exit> {
    // Before the files are read, so that a change in between is seen.
    let source = source(arguments);
    let live =
        arguments.kubeconfig.is_some() || (arguments.cluster.is_empty() && cluster::client::in_cluster());
    let (profiles, cluster) = (arguments.profiles.as_deref(), &arguments.cluster);
    let Some((builder, snapshot)) =
        facts_from_files(profiles, cluster, &arguments.server_settings(), live, err)?
    else {
        return Ok(Exit::Usage);
    };
    // A decision takes tens of microseconds: four cores serve any cluster, and a node may have two hundred.
    let workers = cores().min(4);
    let runtime = match start_runtime(workers) {
        Ok(runtime) => runtime,
        Err(error) => {
            writeln!(err, "error: the server cannot start: {error}")?;
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
        log_decisions: match arguments.log_decisions {
            Decisions::All => LogDecisions::All,
            Decisions::Notable => LogDecisions::Notable,
            Decisions::None => LogDecisions::None,
        },
        lame_duck: Duration::from_secs_f64(arguments.lame_duck),
    };
    // Dropped last, so that log lines of the shutdown are written too.
    let writing = match crate::telemetry::install() {
        Ok(writing) => writing,
        Err(error) => {
            writeln!(err, "error: the server cannot start: {error}")?;
            return Ok(Exit::Internal);
        }
    };
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
        // One line on stderr that scripts wait for, whatever the level of the logs is.
        let line = serde_json::json!({"event": "listening", "webhook": webhook.to_string(), "admin": admin.to_string()});
        writing.line(&line);
    }));
    if let Some(watching) = watching {
        watching.shutdown_background();
    }
    runtime.shutdown_timeout(Duration::from_secs(1));
    match outcome {
        Ok(()) => Ok(Exit::Clean),
        Err(error @ server::RunError::Tls(_)) => {
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

/// Connects to the API server. Watches have a thread of their own, so that a large list does not delay requests.
fn live_facts(
    arguments: &Arguments,
    builder: Builder,
) -> Result<(Runtime, Live), Box<dyn std::error::Error>> {
    // A kind without changes causes one contact with the API server per watch.
    if arguments.stale_after < 2.0 * arguments.watch_timeout {
        let (stale, watch) = (arguments.stale_after, arguments.watch_timeout);
        return Err(format!(
            "--stale-after {stale} is less than twice --watch-timeout {watch}: objects without changes would count as old \
             (FAB813) between two watches; set --stale-after to at least {}",
            2.0 * watch
        )
        .into());
    }
    let watching = start_runtime(1)?;
    let client = watching.block_on(cluster::client::connect(arguments.kubeconfig.as_deref(), None))?;
    let pace = Pace {
        retry: Duration::from_secs_f64(arguments.watch_retry.max(0.05)),
        watch: Duration::from_secs_f64(arguments.watch_timeout.max(1.0)),
        stale_after: Duration::from_secs_f64(arguments.stale_after.max(1.0)),
        ..Pace::DEFAULT
    };
    let status_writer = arguments.profile_status.then(|| status_writer(&client));
    let live = Live { client, builder, pace, runtime: watching.handle().clone(), status_writer };
    Ok((watching, live))
}

fn status_writer(client: &kube::Client) -> StatusWriter {
    StatusWriter { namespace: client.default_namespace().to_owned(), identity: identity() }
}

/// Checks the files of profiles and facts for changes; `None` without files.
fn source(arguments: &Arguments) -> Option<Source> {
    let (profiles, cluster) = (arguments.profiles.clone(), arguments.cluster.clone());
    let (choice, withhold_changes) = (arguments.choice.clone(), arguments.mutate == Mutate::Off);
    let operators = arguments.operator_namespaces.clone();
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
        let mut messages = Vec::new();
        let settings = ServerSettings { choice: &choice, withhold_changes, operator_namespaces: &operators };
        let read = facts_from_files(profiles.as_deref(), &cluster, &settings, false, &mut messages);
        // Only now: a read that panics is tried again.
        known = found;
        match read {
            Ok(Some((_, snapshot))) => Look::New(Box::new(snapshot)),
            Ok(None) => Look::Failed(String::from_utf8_lossy(&messages).trim_end().to_owned()),
            Err(error) => Look::Failed(error.to_string()),
        }
    };
    Some(Source { every: Duration::from_secs_f64(arguments.facts_poll.max(0.05)), look: Box::new(look) })
}

//! Flags of `serve`.

use super::certificate_flags::CertificateFlags;
use super::client_ca_flags::ClientCaFlags;
use super::limit_flags::LimitFlags;
use crate::cli::flag_values::parse_seconds_up_to_one_hour;
use crate::cli::input::{ClusterSettingFlags, OPERATOR_NAMESPACES, ServerSettings, parse_namespace};
use crate::cluster::WatchTimings;
use crate::server::Limits;
use clap::ValueEnum;
use std::net::SocketAddr;
use std::path::PathBuf;

#[derive(Debug, clap::Args)]
pub(in crate::cli) struct Arguments {
    /// Address of the webhook port, which the API server calls over TLS
    #[arg(long, env = "FABRIC_ADMISSION_BIND", default_value = "0.0.0.0:8443")]
    pub(super) bind: SocketAddr,
    /// Address of the admin port, which serves /livez, /readyz and /metrics over plain HTTP
    #[arg(long, env = "FABRIC_ADMISSION_ADMIN_BIND", default_value = "0.0.0.0:8080")]
    pub(super) admin_bind: SocketAddr,
    #[command(flatten)]
    pub(super) tls: CertificateFlags,
    /// File or directory with FabricProfiles; if one FabricProfile is invalid, the server loads none of them
    #[arg(long, value_name = "PATH", env = "FABRIC_ADMISSION_PROFILES")]
    pub(super) profiles: Option<PathBuf>,
    /// File or directory with Kubernetes objects that describe the cluster, such as Nodes and
    /// NetworkAttachmentDefinitions; repeatable
    #[arg(long, value_name = "PATH", env = "FABRIC_ADMISSION_CLUSTER", value_delimiter = ',')]
    pub(super) cluster: Vec<PathBuf>,
    #[command(flatten)]
    pub(super) choice: ClusterSettingFlags,
    /// Namespaces of network operators and device plugins. The server ignores SriovNetworkNodePolicies and other objects
    /// that describe the cluster, unless they are in a listed namespace or in namespace default
    #[arg(
        long, value_name = "NAMESPACE", env = "FABRIC_ADMISSION_OPERATOR_NAMESPACES", value_delimiter = ',',
        value_parser = parse_namespace, default_values = OPERATOR_NAMESPACES
    )]
    pub(super) operator_namespaces: Vec<String>,
    /// Interval, in seconds, at which the server checks the files of --profiles and --cluster for changes
    #[arg(long, value_name = "SECONDS", env = "FABRIC_ADMISSION_FACTS_POLL", default_value_t = 10.0, value_parser = parse_seconds_up_to_one_hour)]
    pub(super) facts_poll: f64,
    /// Kubeconfig file of the cluster that the server watches; default: the cluster in which the server runs. With
    /// --cluster and without --kubeconfig, the server reads the files of --cluster and does not connect to a cluster
    #[arg(long, value_name = "FILE", env = "FABRIC_ADMISSION_KUBECONFIG")]
    pub(super) kubeconfig: Option<PathBuf>,
    /// Maximum pause, in seconds, before the server retries a failed watch, or checks again whether a missing CRD is
    /// installed
    #[arg(long, value_name = "SECONDS", env = "FABRIC_ADMISSION_WATCH_RETRY", default_value_t = WatchTimings::DEFAULT.longest_pause.as_secs_f64(), value_parser = parse_seconds_up_to_one_hour)]
    pub(super) watch_retry: f64,
    /// Time limit of one watch request to the API server, in seconds (query parameter timeoutSeconds)
    #[arg(long, value_name = "SECONDS", env = "FABRIC_ADMISSION_WATCH_TIMEOUT", default_value_t = WatchTimings::DEFAULT.watch.as_secs_f64(), value_parser = parse_seconds_up_to_one_hour)]
    pub(super) watch_timeout: f64,
    /// Whether the server writes the problems of each FabricProfile to the status of that FabricProfile. Only the
    /// replica that holds a Lease writes the status
    #[arg(
        long, value_name = "BOOL", env = "FABRIC_ADMISSION_PROFILE_STATUS", action = clap::ArgAction::Set,
        num_args = 0..=1, default_value_t = false, default_missing_value = "true"
    )]
    pub(super) profile_status: bool,
    /// Time without contact with the API server, in seconds, after which the webhook warns about old facts (FAB813)
    #[arg(long, value_name = "SECONDS", env = "FABRIC_ADMISSION_STALE_AFTER", default_value_t = WatchTimings::DEFAULT.stale_after.as_secs_f64(), value_parser = parse_seconds_up_to_one_hour)]
    pub(super) stale_after: f64,
    /// Whether the webhook may change pods; off stops all changes, in every namespace
    #[arg(long, value_enum, env = "FABRIC_ADMISSION_MUTATE", default_value_t = Mutate::On)]
    pub(super) mutate: Mutate,
    /// What the webhook does with findings in Jobs and other workload objects, in namespaces with mode enforce
    #[arg(long, value_enum, env = "FABRIC_ADMISSION_WORKLOADS", default_value_t = Workloads::Warn)]
    pub(super) workloads: Workloads,
    /// What the webhook does with findings in network objects, such as NetworkAttachmentDefinitions and
    /// SriovNetworkNodePolicies
    #[arg(long, value_enum, env = "FABRIC_ADMISSION_NETWORK_OBJECTS", default_value_t = NetworkObjects::Audit)]
    pub(super) network_objects: NetworkObjects,
    /// Which decisions the server logs. A line has the namespace, owner, user, profile, rules and changes of one
    /// decision
    #[arg(long, value_enum, env = "FABRIC_ADMISSION_LOG_DECISIONS", default_value_t = Decisions::Notable)]
    pub(super) log_decisions: Decisions,
    /// Time after SIGTERM, in seconds, in which the server still accepts new connections
    #[arg(long, value_name = "SECONDS", env = "FABRIC_ADMISSION_LAME_DUCK", default_value_t = 5.0, value_parser = parse_seconds_up_to_one_hour)]
    pub(super) lame_duck: f64,
    /// Maximum time, in seconds, that the server waits for clients to close their connections. The server starts to
    /// wait when the time of --lame-duck ends. API servers close an idle connection after 90 s
    #[arg(long, value_name = "SECONDS", env = "FABRIC_ADMISSION_DRAIN", default_value_t = Limits::DEFAULT.drain.as_secs_f64(), value_parser = parse_seconds_up_to_one_hour)]
    pub(super) drain: f64,
    #[command(flatten)]
    pub(super) budgets: LimitFlags,
    #[command(flatten)]
    pub(super) clients: ClientCaFlags,
}

impl Arguments {
    pub(super) fn server_settings(&self) -> ServerSettings<'_> {
        ServerSettings {
            choice: &self.choice,
            withhold_changes: self.mutate == Mutate::Off,
            operator_namespaces: &self.operator_namespaces,
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum Mutate {
    /// Change pods
    On,
    /// Do not change pods. Deny a pod only if the pod has errors that the webhook's changes would not remove
    Off,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
pub(super) enum Decisions {
    /// Every decision
    All,
    /// Pods that were changed, objects that were denied, and objects that would be denied in mode enforce
    Notable,
    /// No decision
    None,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
pub(super) enum Workloads {
    /// Admit workloads without a check; their pods are still checked
    Off,
    /// Admit workloads, and report findings as warnings
    Warn,
    /// Deny a workload if the webhook would deny the workload's pods
    Deny,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
pub(super) enum NetworkObjects {
    /// Admit network objects without a check
    Off,
    /// Admit network objects, and report findings as warnings
    Audit,
    /// Deny network objects that have findings of severity error
    Enforce,
}

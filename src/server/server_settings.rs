//! Settings of the server, and the source of its facts.

use super::decision_log::LogDecisions;
use super::reload_fact_files::FactFileSource;
use crate::certificate_keeper;
use crate::cluster::WatchTimings;
use crate::facts::EnforcementMode;
use crate::snapshot::Builder;
use crate::tls::ClientSettings;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

/// Settings of the server.
#[derive(Debug, Clone)]
pub struct Settings {
    /// Address of the webhook port.
    pub bind: SocketAddr,
    /// Address of the admin port (plain HTTP).
    pub admin_bind: SocketAddr,
    /// Source of the certificate.
    pub certificate: Certificate,
    /// Whether clients may use TLS 1.2 as well as 1.3.
    pub tls12: bool,
    /// The clients that may call; `None` admits every client.
    pub clients: Option<ClientSettings>,
    /// Policy for workloads; `None` admits all of them unchecked.
    pub workloads: Option<EnforcementMode>,
    /// Policy for network objects; `None` admits all of them unchecked.
    pub network_objects: Option<EnforcementMode>,
    /// Which decisions are logged.
    pub log_decisions: LogDecisions,
    /// Time after a signal to stop in which the server still accepts connections.
    pub lame_duck: Duration,
}

/// Source of the certificate.
#[derive(Debug, Clone)]
pub enum Certificate {
    /// Files that are checked for changes.
    Files {
        /// Certificate chain (PEM).
        cert: PathBuf,
        /// Private key (PEM).
        key: PathBuf,
        /// Check interval.
        poll: Duration,
    },
    /// A Secret of the cluster.
    Cluster(Box<certificate_keeper::Settings>),
}

/// Source of the Snapshots after the first one.
#[derive(Debug)]
pub enum Facts {
    /// None: the first Snapshot stays in use.
    Fixed,
    /// Files that are checked for changes.
    Files(FactFileSource),
    /// A cluster that is watched.
    Live(Box<Live>),
}

/// A cluster to watch.
pub struct Live {
    /// Client of its API server.
    pub client: kube::Client,
    /// Facts from files.
    pub builder: Builder,
    /// Timing of the watches.
    pub timings: WatchTimings,
    /// The runtime of the watches. The threads that answer requests must not wait while a large list is decoded.
    pub runtime: tokio::runtime::Handle,
    /// Identity of this replica as a writer of statuses; `None` if it writes none.
    pub status_writer: Option<StatusWriter>,
}

/// One of several replicas. The one that holds the Lease writes the statuses of FabricProfiles.
#[derive(Debug, Clone)]
pub struct StatusWriter {
    /// Namespace of the Lease.
    pub namespace: String,
    /// Name of this replica among the others.
    pub identity: String,
}

impl std::fmt::Debug for Live {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Live").field("timings", &self.timings).finish_non_exhaustive()
    }
}

//! The webhook server: an accept loop with deadlines of its own, TLS that reloads, a router, an admin port, and
//! an orderly end.

mod accept;
mod admin;
mod age;
mod budgets;
mod certificate;
mod client_ca;
mod descriptors;
mod facts;
mod limits;
mod metrics;
mod routes;
mod state;
mod stop;
mod table;
mod watch;
mod weight;

use crate::cluster::{self, Pace, Sync};
use crate::facts::Mode;
use crate::keeper;
use crate::snapshot::{Builder, Snapshot};
use crate::tls::{self, ClientSettings, Clients};
use arc_swap::ArcSwap;
use std::io;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;
use tokio::net::TcpListener;
use tokio::sync::watch as channel;

pub use facts::{Look, Source};
pub use limits::Limits;
pub use metrics::Metrics;
pub(crate) use state::State;
pub(crate) use stop::Stop;

/// Everything the server needs to know before it starts.
#[derive(Debug, Clone)]
pub struct Settings {
    /// Address of the webhook port.
    pub bind: SocketAddr,
    /// Address of the admin port (plain HTTP).
    pub admin_bind: SocketAddr,
    /// Where the certificate comes from.
    pub certificate: Certificate,
    /// Whether TLS 1.2 is spoken beside 1.3.
    pub tls12: bool,
    /// Who may call; `None` where that is not asked.
    pub clients: Option<ClientSettings>,
    /// What is done about workloads; `None` lets all of them through.
    pub workloads: Option<Mode>,
    /// What is done about network objects; `None` answers without a look.
    pub network_objects: Option<Mode>,
    /// How long new connections are still taken after a signal to stop.
    pub lame_duck: Duration,
}

/// Where the certificate comes from.
#[derive(Debug, Clone)]
pub enum Certificate {
    /// Files, which are looked at again.
    Files {
        /// Certificate chain (PEM).
        cert: PathBuf,
        /// Private key (PEM).
        key: PathBuf,
        /// How often they are looked at.
        poll: Duration,
    },
    /// A Secret of the cluster.
    Cluster(Box<keeper::Settings>),
}

/// Where Snapshots come from after the first.
#[derive(Debug)]
pub enum Facts {
    /// Nowhere.
    Fixed,
    /// Files that are looked at again.
    Files(Source),
    /// A cluster that is watched.
    Live(Box<Live>),
}

/// A cluster to watch.
pub struct Live {
    /// Client of its API server.
    pub client: kube::Client,
    /// What is known from files already.
    pub builder: Builder,
    /// How watches behave.
    pub pace: Pace,
    /// Where they run: not on the threads that answer requests, which must not wait for a large list to be folded.
    pub runtime: tokio::runtime::Handle,
    /// Who we are as a writer of statuses; `None` where we write none.
    pub status_writer: Option<StatusWriter>,
}

/// One of several replicas, of which one writes the statuses of FabricProfiles.
#[derive(Debug, Clone)]
pub struct StatusWriter {
    /// Namespace of the Lease.
    pub namespace: String,
    /// Name of this replica among the others.
    pub identity: String,
}

impl std::fmt::Debug for Live {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Live").field("pace", &self.pace).finish_non_exhaustive()
    }
}

/// Why the server cannot start.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// Certificate or key cannot be used.
    #[error(transparent)]
    Tls(#[from] tls::TlsError),
    /// A port cannot be had.
    #[error("cannot listen on {address}: {source}; is the port in use?")]
    Bind {
        /// Address as given.
        address: SocketAddr,
        /// What the system says.
        source: io::Error,
    },
    /// Signals cannot be watched.
    #[error("cannot install signal handlers: {0}")]
    Signal(io::Error),
}

/// Runs until a signal to stop. Certificate and ports are checked before anything is announced.
///
/// # Errors
/// [`StartError`] when it cannot start; once it serves it ends without error.
pub async fn run(
    settings: Settings,
    limits: Limits,
    snapshot: Snapshot,
    facts: Facts,
    listening: impl FnOnce(SocketAddr, SocketAddr),
) -> Result<(), StartError> {
    let limits = descriptors::provide(limits);
    let clients = settings.clients.map(|of| Clients::load(of).map(Arc::new)).transpose()?;
    let (store, served, standing) = match &settings.certificate {
        Certificate::Files { cert, key, .. } => {
            let store = Arc::new(tls::Store::load(cert, key)?);
            let (served, standing) = (store.served(), keeper::Standing::default());
            certificate::judge(&store, &standing);
            (Some(store), served, standing)
        }
        Certificate::Cluster(_) => (None, Arc::default(), keeper::Standing::waiting()),
    };
    let config = tls::server_config(Arc::clone(&served), settings.tls12, clients.clone())?;
    let bind = async |address| {
        TcpListener::bind(address).await.map_err(|source| StartError::Bind { address, source })
    };
    let webhook = bind(settings.bind).await?;
    let admin_listener = bind(settings.admin_bind).await?;
    let address = |listener: &TcpListener, wanted| listener.local_addr().unwrap_or(wanted);
    let addresses = (address(&webhook, settings.bind), address(&admin_listener, settings.admin_bind));
    let sync = match &facts {
        Facts::Live(_) => Sync::of(cluster::kinds::WATCHED.iter().map(|kind| kind.name())),
        Facts::Fixed | Facts::Files(_) => Sync::default(),
    };
    let state = Arc::new(State {
        snapshot: ArcSwap::from_pointee(snapshot),
        metrics: Arc::new(Metrics::new()),
        sync: sync.clone(),
        certificates: standing.clone(),
        workloads: settings.workloads,
        network_objects: settings.network_objects,
        limits,
        budgets: budgets::Budgets::new(&limits),
        ready: AtomicBool::new(true),
        draining: AtomicBool::new(false),
    });
    let stop = stop::stop_signal(Arc::clone(&state), settings.lame_duck).map_err(StartError::Signal)?;
    let certificate = match settings.certificate {
        Certificate::Cluster(of_cluster) => {
            // Where client certificates are asked for, ours would be refused and counted.
            let port = clients.is_none().then_some((addresses.0, stop.clone()));
            let pause = Duration::from_secs(of_cluster.lives.tick.unsigned_abs());
            let (shown, metrics) = (standing.clone(), Arc::clone(state.metrics.certificates()));
            let orphan = keeper::Orphan {
                served: Arc::clone(&served),
                clock: of_cluster.clock.clone(),
                lives: Some(of_cluster.lives).filter(|_| of_cluster.mode == keeper::Mode::SelfManaged),
            };
            let kept = keeper::Kept::default();
            let keep = move || {
                let (settings, served) = ((*of_cluster).clone(), Arc::clone(&served));
                let port = port.clone().map(|(address, stop)| keeper::Port {
                    address,
                    closes: Arc::new(move || *stop.borrow() != Stop::No),
                });
                keeper::run(settings, port, served, standing.clone(), Arc::clone(&metrics), kept.clone())
            };
            tokio::spawn(keeper::restarted(
                shown,
                Arc::clone(state.metrics.certificates()),
                pause,
                orphan,
                keep,
            ))
        }
        Certificate::Files { poll, .. } => {
            state.metrics.certificates().certificate_loaded();
            let orphan = keeper::Orphan { served, clock: keeper::Clock::default(), lives: None };
            let using = Arc::clone(&state);
            let keep = move || {
                let (store, using) = (store.clone(), Arc::clone(&using));
                async move {
                    if let Some(store) = store {
                        using.metrics.certificates().leaf_expiry(store.until());
                        certificate::reload(store, poll, using).await;
                    }
                }
            };
            tokio::spawn(keeper::restarted(
                standing,
                Arc::clone(state.metrics.certificates()),
                poll,
                orphan,
                keep,
            ))
        }
    };
    let clients = clients.map(|clients| tokio::spawn(client_ca::reload(clients, Arc::clone(&state))));
    let mut writing = None;
    let following = match facts {
        Facts::Fixed => None,
        Facts::Files(source) => Some(tokio::spawn(facts::reload(source, Arc::clone(&state)))),
        Facts::Live(live) => {
            let (using, metrics) = (Arc::clone(&state), Arc::clone(state.metrics.watches()));
            let publish = move |snapshot| using.snapshot.store(Arc::new(snapshot));
            let Live { client, builder, pace, runtime, status_writer } = *live;
            writing =
                status_writer.map(|writer| write_statuses(client.clone(), writer, &state, stop.clone()));
            Some(runtime.spawn(cluster::run(client, builder, pace, sync, metrics, publish)))
        }
    };
    let admin = tokio::spawn(admin::serve(admin_listener, Arc::clone(&state)));
    listening(addresses.0, addresses.1);
    accept::serve(webhook, config, Arc::clone(&state), stop).await;
    // The watches still run, and so do the calls: it has its Lease to give back.
    if let Some(writing) = writing {
        let _ = tokio::time::timeout(Duration::from_secs(3), writing).await;
    }
    certificate.abort();
    if let Some(clients) = clients {
        clients.abort();
    }
    if let Some(following) = following {
        following.abort();
    }
    admin.abort();
    Ok(())
}

/// Writes statuses from what decisions are made with, until we stop.
fn write_statuses(
    client: kube::Client,
    writer: StatusWriter,
    state: &Arc<State>,
    mut stop: channel::Receiver<Stop>,
) -> tokio::task::JoinHandle<()> {
    let (using, metrics) = (Arc::clone(state), Arc::clone(state.metrics.watches()));
    // Before everything is known, a status would report half of the cluster as missing.
    let snapshot = move || using.sync.waiting().is_none().then(|| using.snapshot.load_full());
    let stopped = async move { drop(stop.wait_for(|stop| *stop != Stop::No).await) };
    let StatusWriter { namespace, identity } = writer;
    tokio::spawn(cluster::status::run(client, namespace, identity, metrics, snapshot, stopped))
}

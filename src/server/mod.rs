//! The webhook server: an accept loop with deadlines of its own, TLS that reloads, a router, an admin port, and
//! an orderly end.

mod accept;
mod admin;
mod age;
mod budgets;
mod certificate_metrics;
pub mod certificates;
mod clients;
mod descriptors;
mod facts;
mod limits;
mod metrics;
mod names;
mod routes;
mod table;
pub mod tls;
mod watch;
mod watch_metrics;

use crate::cluster::{self, Pace, Sync};
use crate::facts::Mode;
use crate::snapshot::{Builder, Snapshot};
use arc_swap::ArcSwap;
use std::io;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;
use tokio::net::TcpListener;
use tokio::sync::watch as channel;

pub use clients::{ClientSettings, Clients};
pub use facts::{Look, Source};
pub use limits::Limits;
pub use metrics::Metrics;

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
    Cluster(Box<certificates::Settings>),
}

/// Shared by every connection.
pub(crate) struct State {
    pub(crate) snapshot: ArcSwap<Snapshot>,
    pub(crate) metrics: Arc<Metrics>,
    /// What the watches have heard of.
    pub(crate) sync: Sync,
    /// Whether the API server would believe our certificate.
    pub(crate) certificates: certificates::Standing,
    pub(crate) workloads: Option<Mode>,
    pub(crate) network_objects: Option<Mode>,
    pub(crate) limits: Limits,
    /// What is left of the budgets.
    pub(crate) budgets: budgets::Budgets,
    /// Serving and not about to stop.
    pub(crate) ready: AtomicBool,
    /// A signal to stop has come: answers carry `Connection: close`.
    pub(crate) draining: AtomicBool,
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
    #[error("cannot watch for signals: {0}")]
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
            let (served, standing) = (store.served(), certificates::Standing::default());
            tls::judge(&store, &standing);
            (Some(store), served, standing)
        }
        Certificate::Cluster(_) => (None, Arc::default(), certificates::Standing::waiting()),
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
    let stop = stop_signal(Arc::clone(&state), settings.lame_duck).map_err(StartError::Signal)?;
    let certificate = match settings.certificate {
        Certificate::Cluster(of_cluster) => {
            // Where client certificates are asked for, ours would be refused and counted.
            let port = clients.is_none().then_some((addresses.0, stop.clone()));
            let pause = Duration::from_secs(of_cluster.lives.tick.unsigned_abs());
            let (told, metrics) = (standing.clone(), Arc::clone(&state.metrics));
            let orphan = certificates::Orphan {
                served: Arc::clone(&served),
                clock: of_cluster.clock.clone(),
                lives: Some(of_cluster.lives).filter(|_| of_cluster.mode == certificates::Mode::SelfManaged),
            };
            let kept = certificates::Kept::default();
            let keep = move || {
                let (settings, served) = ((*of_cluster).clone(), Arc::clone(&served));
                let port = port.clone().map(|(address, stop)| certificates::Port { address, stop });
                certificates::run(
                    settings,
                    port,
                    served,
                    standing.clone(),
                    Arc::clone(&metrics),
                    kept.clone(),
                )
            };
            tokio::spawn(certificates::restarted(told, Arc::clone(&state.metrics), pause, orphan, keep))
        }
        Certificate::Files { poll, .. } => {
            state.metrics.certificate_loaded();
            let orphan = certificates::Orphan { served, clock: certificates::Clock::default(), lives: None };
            let using = Arc::clone(&state);
            let keep = move || {
                let (store, using) = (store.clone(), Arc::clone(&using));
                async move {
                    if let Some(store) = store {
                        using.metrics.leaf_expiry(store.until());
                        tls::reload(store, poll, using).await;
                    }
                }
            };
            tokio::spawn(certificates::restarted(standing, Arc::clone(&state.metrics), poll, orphan, keep))
        }
    };
    let clients = clients.map(|clients| tokio::spawn(clients::reload(clients, Arc::clone(&state))));
    let mut writing = None;
    let following = match facts {
        Facts::Fixed => None,
        Facts::Files(source) => Some(tokio::spawn(facts::reload(source, Arc::clone(&state)))),
        Facts::Live(live) => {
            let (using, metrics) = (Arc::clone(&state), Arc::clone(&state.metrics));
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
    let (using, metrics) = (Arc::clone(state), Arc::clone(&state.metrics));
    // Before everything is known, a profile would be told that half of the cluster is missing.
    let snapshot = move || using.sync.waiting().is_none().then(|| using.snapshot.load_full());
    let stopped = async move { drop(stop.wait_for(|stop| *stop != Stop::No).await) };
    let StatusWriter { namespace, identity } = writer;
    tokio::spawn(cluster::status::run(client, namespace, identity, metrics, snapshot, stopped))
}

/// What the accept loop is told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stop {
    /// Serve.
    No,
    /// Take no more connections and let those that are there end.
    Drain,
    /// End at once.
    Now,
}

/// Watches for SIGTERM and SIGINT. The first makes us a lame duck: not ready, every answer closes its
/// connection, but connections are still taken, since endpoints lag behind; then draining starts. A second
/// signal ends at once.
fn stop_signal(state: Arc<State>, lame_duck: Duration) -> io::Result<channel::Receiver<Stop>> {
    use std::sync::atomic::Ordering;
    use tokio::signal::unix::{SignalKind, signal};
    let mut terminate = signal(SignalKind::terminate())?;
    let mut interrupt = signal(SignalKind::interrupt())?;
    let (sender, receiver) = channel::channel(Stop::No);
    tokio::spawn(async move {
        tokio::select! { _ = terminate.recv() => {}, _ = interrupt.recv() => {} }
        state.ready.store(false, Ordering::Release);
        state.draining.store(true, Ordering::Release);
        tracing::info!(lame_duck_seconds = lame_duck.as_secs_f64(), "stopping: no longer ready");
        tokio::select! {
            () = tokio::time::sleep(lame_duck) => {
                let _ = sender.send(Stop::Drain);
                tokio::select! { _ = terminate.recv() => {}, _ = interrupt.recv() => {} }
                let _ = sender.send(Stop::Now);
            }
            _ = terminate.recv() => { let _ = sender.send(Stop::Now); }
            _ = interrupt.recv() => { let _ = sender.send(Stop::Now); }
        }
    });
    Ok(receiver)
}

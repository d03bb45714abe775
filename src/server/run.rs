//! The start of the server, in its order, and its end.

use super::default_limits_and_deadlines::Limits;
use super::listener::{KernelBuffers, listen};
use super::metrics::Metrics;
use super::own_thread::OwnThread;
use super::server_settings::{Facts, Settings};
use super::shared_state::State;
use super::stop_signals::{self, Stop};
use super::task_supervisor::{Supervisor, TaskError};
use super::tls_handshake::TlsHandshakes;
use super::{
    accept_loop, audience_by_client_certificates, background_tasks, budgets_for_requests_and_bytes,
    certificate_source_and_file_reload, failed_tasks, file_descriptors,
};
use crate::cluster::{self, SyncStateOfKinds};
use crate::snapshot::Snapshot;
use crate::tls::{self, ClientVerifier};
use arc_swap::ArcSwap;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use tokio::net::TcpListener;
use tokio::sync::watch as channel;

/// Why the server cannot start, or ended by itself.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// Certificate or key cannot be used.
    #[error(transparent)]
    Tls(#[from] tls::TlsError),
    /// A port is not available.
    #[error("cannot listen on {address}: {source}; does another process use the port?")]
    Bind {
        /// Address as given.
        address: SocketAddr,
        /// The system's error.
        source: io::Error,
    },
    /// The system gives no thread.
    #[error("cannot start a thread: {0}")]
    Thread(io::Error),
    /// Signals cannot be watched.
    #[error("cannot install signal handlers: {0}")]
    Signal(io::Error),
    /// The server cannot serve without one of its tasks.
    #[error(transparent)]
    Task(#[from] TaskError),
}

/// Runs until a signal to stop. Certificate and ports are checked before anything is announced.
///
/// # Errors
/// [`RunError`] when it cannot start, or when the webhook's listener fails.
pub async fn run(
    settings: Settings,
    limits: Limits,
    snapshot: Snapshot,
    facts: Facts,
    listening: impl FnOnce(SocketAddr, SocketAddr),
) -> Result<(), RunError> {
    let limits = file_descriptors::raise_open_files_or_lower_connections(limits);
    let clients = settings.clients.map(|of| ClientVerifier::load(of).map(Arc::new)).transpose()?;
    let certificate = certificate_source_and_file_reload::CertificateSource::load(settings.certificate)?;
    let config = tls::server_config(certificate.served(), settings.tls12, clients.clone())?;
    let address = settings.bind;
    let webhook = listen(address, KernelBuffers::WEBHOOK, limits.write)
        .map_err(|source| RunError::Bind { address, source })?;
    let probes = OwnThread::start("admin").map_err(RunError::Thread)?;
    let handshake_thread = OwnThread::start("handshakes").map_err(RunError::Thread)?;
    let address = settings.admin_bind;
    // A listener of another runtime would wait for its threads.
    let admin =
        probes.handle().spawn(async move { listen(address, KernelBuffers::ADMIN, limits.write) }).await;
    let admin = admin.map_err(io::Error::other).flatten();
    let admin = admin.map_err(|source| RunError::Bind { address, source })?;
    let address = |listener: &TcpListener, wanted| listener.local_addr().unwrap_or(wanted);
    let addresses = (address(&webhook, settings.bind), address(&admin, settings.admin_bind));
    let audience = audience_by_client_certificates::audience(clients.is_some());
    let metrics = Metrics::new();
    match &facts {
        // The profiles of a live cluster are known with its first Snapshot.
        Facts::Live(_) => metrics.show_names_with_zeros(&snapshot),
        Facts::Fixed | Facts::Files(_) => metrics.record_names_and_changed_profiles(&snapshot),
    }
    let state = Arc::new(State {
        audience,
        snapshot: ArcSwap::from_pointee(snapshot),
        metrics: Arc::new(metrics),
        sync: match &facts {
            Facts::Live(_) => {
                SyncStateOfKinds::of(cluster::watched_kinds::WATCHED.iter().map(|kind| kind.name()))
            }
            Facts::Fixed | Facts::Files(_) => SyncStateOfKinds::default(),
        },
        certificates: certificate.initial_readiness(),
        expiry: certificate.expiry(),
        failed: failed_tasks::FailedTasks::default(),
        workloads: settings.workloads,
        network_objects: settings.network_objects,
        log_decisions: settings.log_decisions,
        limits,
        budgets: budgets_for_requests_and_bytes::Budgets::new(&limits),
        ready: AtomicBool::new(true),
        draining: AtomicBool::new(false),
    });
    let signals = stop_signals::Signals::install().map_err(RunError::Signal)?;
    let (sender, stop) = channel::channel(Stop::No);
    let mut supervisor = Supervisor::new(Arc::clone(&state), stop.clone());
    background_tasks::report_end_of_log_writer(&mut supervisor);
    background_tasks::start_signal_handler(&mut supervisor, signals, &state, settings.lame_duck, sender);
    background_tasks::start_admin_port(&mut supervisor, &probes, admin, &state);
    // Where client certificates are asked for, ours would be refused and counted.
    let port = clients.is_none().then(|| (addresses.0, stop.clone()));
    background_tasks::start_certificate_reload_or_keeper(&mut supervisor, certificate, &state, port);
    let handshakes = TlsHandshakes {
        config,
        runtime: handshake_thread.handle(),
        is_second_message_long: clients.is_some() || settings.tls12,
    };
    if let Some(clients) = clients {
        background_tasks::start_client_ca_reloads(&mut supervisor, clients, &state);
    }
    match facts {
        Facts::Fixed => {}
        Facts::Files(source) => background_tasks::start_fact_file_reloads(&mut supervisor, source, &state),
        Facts::Live(live) => {
            background_tasks::start_watches_publisher_and_status_writer(&mut supervisor, *live, &state, &stop)
        }
    }
    listening(addresses.0, addresses.1);
    let port = accept_loop::serve(webhook, handshakes, state, stop);
    let served = supervisor.run_essential_task("listener", port).await;
    supervisor.wait_then_abort_all_tasks().await;
    Ok(served?)
}

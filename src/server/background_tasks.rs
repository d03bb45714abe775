//! Every background task of the server: its name, what does not happen while it is down, and how it starts. What follows
//! when one fails: [`super::task_supervisor`].

use super::certificate_source_and_file_reload::{self, CertificateSource};
use super::own_thread::OwnThread;
use super::stop_signals::{self, Signals};
use super::task_supervisor::{Supervisor, Task};
use super::{Live, State, StatusWriter, Stop, admin_port, reload_client_ca, reload_fact_files};
use crate::cluster::{self, Watches};
use crate::tls::ClientVerifier;
use crate::{certificate_keeper, telemetry};
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::net::TcpListener;
use tokio::sync::watch;

/// The thread that writes log lines. A line of `/readyz` is the only way to report its end.
pub(super) fn report_end_of_log_writer(supervisor: &mut Supervisor) {
    supervisor.start_on_this_runtime(
        Task::new("log", "the server writes no log lines").without_restart(),
        telemetry::wait_until_log_thread_ends,
    );
}

/// Signals to stop.
pub(super) fn start_signal_handler(
    supervisor: &mut Supervisor,
    signals: Signals,
    state: &Arc<State>,
    lame_duck: Duration,
    stop: watch::Sender<Stop>,
) {
    let (state, stop) = (Arc::clone(state), Arc::new(stop));
    supervisor.start_on_this_runtime(
        Task::new("signals", "the server does not stop on SIGTERM"),
        move || {
            stop_signals::stop_server_on_signals(
                signals.clone(),
                Arc::clone(&state),
                lame_duck,
                Arc::clone(&stop),
            )
        },
    );
}

/// The admin port.
pub(super) fn start_admin_port(
    supervisor: &mut Supervisor,
    thread: &OwnThread,
    listener: TcpListener,
    state: &Arc<State>,
) {
    let (listener, state) = (Arc::new(listener), Arc::clone(state));
    let task = Task::new("admin", "the server does not answer probes and scrapes");
    supervisor.start_on(thread.handle(), task, move || {
        admin_port::serve(Arc::clone(&listener), Arc::clone(&state))
    });
}

/// The certificate. `port` is the address of the webhook, where a handshake with it shows what it serves.
pub(super) fn start_certificate_reload_or_keeper(
    supervisor: &mut Supervisor,
    origin: CertificateSource,
    state: &Arc<State>,
    port: Option<(SocketAddr, watch::Receiver<Stop>)>,
) {
    let metrics = Arc::clone(state.metrics.certificates());
    match origin {
        CertificateSource::Files { store, poll } => {
            metrics.count_load_and_record_time();
            let task = Task::new(
                certificate_source_and_file_reload::TASK,
                "the server does not load changed certificate files",
            );
            let state = Arc::clone(state);
            supervisor.start_on_this_runtime(task, move || {
                metrics.set_leaf_expiry(store.expiry_time());
                certificate_source_and_file_reload::reload_changed_files_until_aborted(
                    Arc::clone(&store),
                    poll,
                    Arc::clone(&state),
                )
            });
        }
        CertificateSource::Cluster { settings, served } => {
            // Each start may write to the API server.
            let tick = Duration::from_secs(settings.lives.tick.unsigned_abs());
            let task = Task::new(
                certificate_source_and_file_reload::TASK,
                "the server does not renew its certificate",
            )
            .with_first_pause(tick);
            let (kept, standing) = (certificate_keeper::KeptMemory::default(), state.certificates.clone());
            supervisor.start_on_this_runtime(task, move || {
                let port = port.clone().map(|(address, stop)| certificate_keeper::OwnPort {
                    address,
                    closes: Arc::new(move || *stop.borrow() != Stop::No),
                });
                let (settings, served) = ((*settings).clone(), Arc::clone(&served));
                certificate_keeper::run(
                    settings,
                    port,
                    served,
                    standing.clone(),
                    Arc::clone(&metrics),
                    kept.clone(),
                )
            });
        }
    }
}

/// The CA of clients.
pub(super) fn start_client_ca_reloads(
    supervisor: &mut Supervisor,
    clients: Arc<ClientVerifier>,
    state: &Arc<State>,
) {
    let state = Arc::clone(state);
    supervisor.start_on_this_runtime(
        Task::new("client-ca", "the server does not load a changed client CA"),
        move || reload_client_ca::reload_changed_file_until_aborted(Arc::clone(&clients), Arc::clone(&state)),
    );
}

/// Profiles and facts from files.
pub(super) fn start_fact_file_reloads(
    supervisor: &mut Supervisor,
    source: reload_fact_files::FactFileSource,
    state: &Arc<State>,
) {
    let reload_fact_files::FactFileSource { every, look } = source;
    let (check, state) = (Arc::new(Mutex::new(look)), Arc::clone(state));
    supervisor.start_on_this_runtime(
        Task::new("files", "the server does not load changed files of profiles and facts"),
        move || {
            reload_fact_files::publish_changed_files_until_aborted(
                every,
                Arc::clone(&check),
                Arc::clone(&state),
            )
        },
    );
}

/// The watches of a cluster, and the writer of statuses.
pub(super) fn start_watches_publisher_and_status_writer(
    supervisor: &mut Supervisor,
    live: Live,
    state: &Arc<State>,
    stop: &watch::Receiver<Stop>,
) {
    let Live { client, builder, timings, runtime, status_writer } = live;
    if let Some(writer) = status_writer {
        start_status_writer(supervisor, client.clone(), writer, state, stop);
    }
    let metrics = Arc::clone(state.metrics.watches());
    let watches = Watches::new(client, builder, timings, state.sync.clone(), metrics);
    for kind in cluster::watched_kinds::WATCHED {
        let task = Task::new(
            format!("watch {}", kind.name()),
            "the server does not see changes of objects of this kind",
        );
        let watches = watches.clone();
        supervisor.start_on(runtime.clone(), task, move || watches.clone().list_and_watch_kind(kind));
    }
    let version = watches.clone();
    supervisor.start_on(
        runtime.clone(),
        Task::new("version", "the server does not report an API server that is too old"),
        move || version.clone().check_version(),
    );
    let task = Task::new("snapshots", "the webhook decides with facts that are not updated");
    let state = Arc::clone(state);
    supervisor.start_on(runtime, task, move || {
        let state = Arc::clone(&state);
        watches.clone().publish(move |snapshot| {
            state.metrics.record_names_and_changed_profiles(&snapshot);
            state.snapshot.store(Arc::new(snapshot));
        })
    });
}

/// Writes statuses from the Snapshot that decisions use. At the end it has its Lease to give back.
fn start_status_writer(
    supervisor: &mut Supervisor,
    client: kube::Client,
    writer: StatusWriter,
    state: &Arc<State>,
    stop: &watch::Receiver<Stop>,
) {
    let (state, stop) = (Arc::clone(state), stop.clone());
    supervisor.start_task_that_ends_itself(
        Task::new("statuses", "the server does not write the status of FabricProfiles"),
        move || {
            let (using, mut stop) = (Arc::clone(&state), stop.clone());
            // Before everything is known, a status would report half of the cluster as missing.
            let snapshot = move || {
                using.sync.kinds_that_readiness_waits_for().is_none().then(|| using.snapshot.load_full())
            };
            let stopped = async move { drop(stop.wait_for(|stop| *stop != Stop::No).await) };
            let StatusWriter { namespace, identity } = writer.clone();
            let metrics = Arc::clone(state.metrics.watches());
            cluster::write_profile_status::write_statuses_while_leader(
                client.clone(),
                namespace,
                identity,
                metrics,
                snapshot,
                stopped,
            )
        },
    );
}

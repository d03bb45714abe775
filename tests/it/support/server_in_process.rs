//! A server in this process, with limits of the test's own.

use crate::support::Scratch;
use crate::support::server::{Client, certificate, trusting};
use fabric_admission::facts::EnforcementMode;
use fabric_admission::server::{Certificate, Facts, Limits, LogDecisions, Settings, run};
use fabric_admission::snapshot::Snapshot;
use std::net::{IpAddr, SocketAddr, TcpStream};
use std::path::PathBuf;
use std::sync::mpsc;
use std::time::Duration;

/// It lives as long as the process.
pub(crate) struct InProcess {
    pub(crate) webhook: SocketAddr,
    pub(crate) admin: SocketAddr,
    pub(crate) ca: PathBuf,
    _scratch: Scratch,
}

impl InProcess {
    pub(crate) fn start(limits: Limits, snapshot: Snapshot) -> Result<Self, String> {
        let scratch = Scratch::new()?;
        certificate(scratch.path())?;
        let any = SocketAddr::from(([127, 0, 0, 1], 0));
        let settings = Settings {
            bind: any,
            admin_bind: any,
            certificate: Certificate::Files {
                cert: scratch.path().join("tls.crt"),
                key: scratch.path().join("tls.key"),
                poll: Duration::from_secs(60),
            },
            tls12: false,
            clients: None,
            workloads: Some(EnforcementMode::Enforce),
            network_objects: None,
            log_decisions: LogDecisions::default(),
            lame_duck: Duration::ZERO,
        };
        let (sender, receiver) = mpsc::channel();
        std::thread::spawn(move || {
            let runtime =
                tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
            runtime.block_on(run(settings, limits, snapshot, Facts::Fixed, |webhook, admin| {
                let _ = sender.send((webhook, admin));
            }))
        });
        let (webhook, admin) = receiver.recv_timeout(Duration::from_secs(10)).map_err(|e| e.to_string())?;
        Ok(Self { webhook, admin, ca: scratch.path().join("ca.crt"), _scratch: scratch })
    }

    /// Value of a metric; 0 where it is not there yet.
    pub(crate) fn metric(&self, name: &str) -> Result<f64, String> {
        crate::support::server::metric(self.admin, name)
    }

    /// How often something was given up for a reason.
    pub(crate) fn shed(&self, reason: &str) -> Result<f64, String> {
        self.metric(&format!("fabric_admission_shed_total{{reason=\"{reason}\"}}"))
    }

    /// A client at another address of this machine: 127.0.0.`last`.
    pub(crate) fn client_at(&self, last: u8) -> Result<Client, String> {
        let config = trusting(&self.ca, rustls::DEFAULT_VERSIONS)?.with_no_client_auth();
        Client::over(connect_from(last, self.webhook)?, config)
    }
}

/// A TCP connection from 127.0.0.`last`.
pub(crate) fn connect_from(last: u8, to: SocketAddr) -> Result<TcpStream, String> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let connected = runtime.map_err(|e| e.to_string())?.block_on(async {
        let socket = tokio::net::TcpSocket::new_v4()?;
        socket.bind(SocketAddr::new(IpAddr::from([127, 0, 0, last]), 0))?;
        let stream = socket.connect(to).await?.into_std()?;
        stream.set_nonblocking(false)?;
        Ok::<_, std::io::Error>(stream)
    });
    connected.map_err(|e| e.to_string())
}

//! Replicas that make their own certificates, the configuration of `deploy/` without a caBundle, and what stands for the
//! Service between them and the API server: a port that goes to those that are ready.

use super::super::profile_status::{NAMESPACE, account};
use super::super::support::plane::Plane;
use super::super::support::site::{PROFILE_LABEL, canary_pod, rendered};
use crate::support::Scratch;
use crate::support::server::Server;
use serde_json::{Value, json};
use std::io::{Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

pub(super) const SECRET: &str = "fabric-admission-ca";
pub(super) const CONFIGURATIONS: [(&str, &str); 2] = [
    ("mutatingwebhookconfigurations", "pod-fabric-admission"),
    ("validatingwebhookconfigurations", "fabric-admission"),
];

/// What the pods of a load ask for.
const NETWORK: &str = "apiVersion: k8s.cni.cncf.io/v1\nkind: NetworkAttachmentDefinition\n\
    metadata: {name: sriov-rdma-network, namespace: default, annotations: {k8s.v1.cni.cncf.io/resourceName: nvidia.com/sriov_resource}}\n\
    spec: {config: '{\"cniVersion\": \"1.0.0\", \"type\": \"sriov\"}'}\n";

/// Lives of a trial: a CA that lasts, and everything else at once.
pub(super) const QUICK: [&str; 10] = [
    "--tls-leaf-life",
    "60s",
    "--tls-soak",
    "2s",
    "--tls-clock-skew",
    "0s",
    "--tls-tick",
    "2s",
    "--tls-settle",
    "1s",
];

type Backends = Arc<Mutex<Vec<(SocketAddr, SocketAddr, bool)>>>;

/// A port that forwards to the replicas that are ready, as kube-proxy does for a Service.
pub(super) struct Front {
    pub(super) port: u16,
    backends: Backends,
    over: Arc<AtomicBool>,
}

impl Front {
    fn start() -> Result<Self, String> {
        let listener = TcpListener::bind("127.0.0.1:0").map_err(|e| e.to_string())?;
        let port = listener.local_addr().map_err(|e| e.to_string())?.port();
        let backends: Backends = Arc::default();
        let over = Arc::new(AtomicBool::new(false));
        let (known, done, turn) = (Arc::clone(&backends), Arc::clone(&over), Arc::new(AtomicUsize::new(0)));
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                if done.load(Ordering::SeqCst) {
                    return;
                }
                let (known, turn) = (Arc::clone(&known), Arc::clone(&turn));
                if let Ok(stream) = stream {
                    std::thread::spawn(move || forward(stream, &known, &turn));
                }
            }
        });
        let (known, done) = (Arc::clone(&backends), Arc::clone(&over));
        std::thread::spawn(move || {
            while !done.load(Ordering::SeqCst) {
                let all = known.lock().unwrap_or_else(PoisonError::into_inner).clone();
                for (webhook, admin, _) in all {
                    let is = ready(admin);
                    let mut all = known.lock().unwrap_or_else(PoisonError::into_inner);
                    if let Some(backend) = all.iter_mut().find(|b| b.0 == webhook) {
                        backend.2 = is;
                    }
                }
                std::thread::sleep(Duration::from_millis(50));
            }
        });
        Ok(Self { port, backends, over })
    }

    pub(super) fn set(&self, servers: &[&Server]) {
        let all = servers.iter().map(|s| (s.webhook, s.admin, ready(s.admin))).collect();
        *self.backends.lock().unwrap_or_else(PoisonError::into_inner) = all;
    }
}

impl Drop for Front {
    fn drop(&mut self) {
        self.over.store(true, Ordering::SeqCst);
        let _ = TcpStream::connect(("127.0.0.1", self.port));
    }
}

fn ready(admin: SocketAddr) -> bool {
    readyz(admin).is_ok_and(|(status, _)| status == 200)
}

/// Status and body of `/readyz`.
pub(super) fn readyz(admin: SocketAddr) -> Result<(u16, String), String> {
    let mut stream = TcpStream::connect_timeout(&admin, Duration::from_secs(2)).map_err(|e| e.to_string())?;
    stream.set_read_timeout(Some(Duration::from_secs(5))).map_err(|e| e.to_string())?;
    stream
        .write_all(b"GET /readyz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
        .map_err(|e| e.to_string())?;
    let answer = crate::support::server::Answer::read(&mut stream)?;
    Ok((answer.status, answer.body))
}

fn forward(client: TcpStream, backends: &Backends, turn: &AtomicUsize) {
    let all = backends.lock().unwrap_or_else(PoisonError::into_inner).clone();
    let ready: Vec<SocketAddr> = all.iter().filter(|b| b.2).map(|b| b.0).collect();
    if ready.is_empty() {
        return;
    }
    let Ok(server) = TcpStream::connect(ready[turn.fetch_add(1, Ordering::SeqCst) % ready.len()]) else {
        return;
    };
    let _ = (client.set_nodelay(true), server.set_nodelay(true));
    let (Ok(mut c), Ok(mut s)) = (client.try_clone(), server.try_clone()) else { return };
    let back = std::thread::spawn(move || {
        pump(&mut s, &mut c);
    });
    pump(&mut { client }, &mut { server });
    let _ = back.join();
}

fn pump(from: &mut TcpStream, to: &mut TcpStream) {
    let mut buffer = [0; 16 * 1024];
    while let Ok(n) = from.read(&mut buffer) {
        if n == 0 || to.write_all(&buffer[..n]).is_err() {
            break;
        }
    }
    let _ = (to.shutdown(Shutdown::Write), from.shutdown(Shutdown::Read));
}

/// Everything of a trial; the objects go when it is dropped.
pub(super) struct Site<'a> {
    pub(super) plane: &'a Plane,
    pub(super) front: Front,
    pub(super) kubeconfig: String,
    pub(super) namespace: String,
}

impl<'a> Site<'a> {
    /// The objects of `deploy/base` but the caBundle, and nobody that serves yet.
    pub(super) fn new(plane: &'a Plane) -> Result<Self, String> {
        let kubeconfig = account(plane)?;
        let site =
            Self { plane, front: Front::start()?, kubeconfig, namespace: plane.namespace(&[PROFILE_LABEL])? };
        site.clear()?;
        plane.apply(NETWORK)?;
        site.install()?;
        Ok(site)
    }

    /// The configurations as they are shipped, pointed at the front.
    pub(super) fn install(&self) -> Result<(), String> {
        for object in self.shipped()? {
            self.plane.apply(&object.to_string())?;
        }
        Ok(())
    }

    /// The configurations that `install` applies.
    pub(super) fn shipped(&self) -> Result<Vec<Value>, String> {
        let mut all = Vec::new();
        for mut object in rendered(self.plane, "base")? {
            if !object["kind"].as_str().is_some_and(|k| k.ends_with("WebhookConfiguration")) {
                continue;
            }
            for webhook in object["webhooks"].as_array_mut().ok_or("no webhooks")? {
                let path = webhook["clientConfig"]["service"]["path"].as_str().ok_or("no path")?.to_owned();
                webhook["clientConfig"] =
                    json!({"url": format!("https://localhost:{}{path}", self.front.port)});
            }
            all.push(object);
        }
        Ok(all)
    }

    /// Starts a replica; it listens, and no more is known.
    pub(super) fn replica(&self, args: &[&str]) -> Result<Server, String> {
        self.replica_in_mode(&[&["--tls-mode", "self-managed"], args].concat())
    }

    /// Starts a replica of any mode.
    pub(super) fn replica_in_mode(&self, args: &[&str]) -> Result<Server, String> {
        let scratch = Scratch::new()?;
        scratch.write("profiles.yaml", crate::support::server::PROFILE)?;
        let fixed = [
            "--profiles",
            "profiles.yaml",
            "--kubeconfig",
            &self.kubeconfig,
            "--tls-host",
            "localhost",
            "--lame-duck",
            "0",
            "--watch-retry",
            "0.2",
        ];
        Server::start_in(scratch, &[&fixed[..], args].concat())
    }

    /// Waits until a replica is ready; how long that took.
    pub(super) fn ready(&self, server: &Server) -> Result<Duration, String> {
        let start = Instant::now();
        let mut last = String::new();
        self.plane
            .until("the server is ready", Duration::from_secs(30), || {
                let (status, body) = readyz(server.admin)?;
                last = body;
                Ok(status == 200)
            })
            .map_err(|e| format!("{e}: {last}"))?;
        Ok(start.elapsed())
    }

    /// Creates a pod in a namespace that enforces, as a dry run: whether the API server believes the webhooks.
    pub(super) fn create(&self) -> Result<(), String> {
        let args = ["create", "-n", &self.namespace, "--dry-run=server", "-f", "-"];
        let done = self.plane.kubectl(&args, &canary_pod().to_string())?;
        if done.ok { Ok(()) } else { Err(done.stderr) }
    }

    /// The admin port of the first replica.
    pub(super) fn first(&self) -> Result<SocketAddr, String> {
        let all = self.front.backends.lock().unwrap_or_else(PoisonError::into_inner);
        all.first().map(|backend| backend.1).ok_or_else(|| "no replica".to_owned())
    }

    pub(super) fn secret(&self) -> Result<Value, String> {
        self.plane.get(&["secret", SECRET, "-n", NAMESPACE])
    }

    /// Deletes what a trial before may have left.
    pub(super) fn clear(&self) -> Result<(), String> {
        self.plane.kubectl(&["delete", "secret", SECRET, "-n", NAMESPACE, "--ignore-not-found"], "")?;
        let kinds = "mutatingwebhookconfigurations,validatingwebhookconfigurations";
        self.plane.kubectl(&["delete", kinds, "--all", "--wait=true"], "")?;
        Ok(())
    }
}

impl Drop for Site<'_> {
    fn drop(&mut self) {
        let _ = self.clear();
        let _ = self.plane.kubectl(&["delete", "-f", "-"], NETWORK);
    }
}

/// A number of the metrics of which the name begins so; the sum of all that do.
pub(super) fn metric(server: &Server, name: &str) -> Result<i64, String> {
    let text = server.admin("/metrics")?.body;
    let lines = text.lines().filter(|l| l.starts_with(&format!("fabric_admission_{name}")));
    Ok(lines.filter_map(|l| l.rsplit(' ').next()?.parse::<i64>().ok()).sum())
}

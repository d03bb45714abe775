//! The way from the API server to a Service, where no kube-proxy is: an egress proxy, as konnectivity is one. The API
//! server calls webhooks of a Service through it, so a test needs no other configuration than the one that is installed.

use crate::e2e::support::plane::Plane;
use std::io::{Read, Write};
use std::net::{Shutdown, SocketAddr, TcpStream};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// What the API server's flag names.
const CONFIGURATION: &str = "egress.yaml";

#[derive(Default)]
struct Shared {
    endpoints: Mutex<Vec<SocketAddr>>,
    next: AtomicUsize,
    over: AtomicBool,
}

/// The proxy. The API server is as it was when this is dropped.
pub(in crate::e2e) struct Egress<'a> {
    plane: &'a Plane,
    socket: PathBuf,
    shared: Arc<Shared>,
}

impl<'a> Egress<'a> {
    /// Starts the proxy, and restarts the API server with it.
    pub(in crate::e2e) fn start(plane: &'a Plane) -> Result<Self, String> {
        let socket = plane.directory().join("egress.sock");
        let _ = std::fs::remove_file(&socket);
        let listener = UnixListener::bind(&socket).map_err(|e| e.to_string())?;
        let shared = Arc::new(Shared::default());
        let taking = Arc::clone(&shared);
        std::thread::spawn(move || {
            for client in listener.incoming().flatten() {
                if taking.over.load(Ordering::SeqCst) {
                    return;
                }
                let shared = Arc::clone(&taking);
                std::thread::spawn(move || drop(carry(client, &shared)));
            }
        });
        let configuration = format!(
            "apiVersion: apiserver.k8s.io/v1beta1\nkind: EgressSelectorConfiguration\negressSelections:\n\
             - name: cluster\n  connection:\n    proxyProtocol: HTTPConnect\n    transport: {{uds: {{udsName: {}}}}}\n",
            socket.display()
        );
        std::fs::write(plane.directory().join(CONFIGURATION), configuration).map_err(|e| e.to_string())?;
        let egress = Self { plane, socket, shared };
        plane.kill_api_server();
        plane.start_api_server_with(&[&format!("--egress-selector-config-file={CONFIGURATION}")])?;
        Ok(egress)
    }

    /// The endpoints of the Service from now on.
    pub(in crate::e2e) fn set(&self, endpoints: Vec<SocketAddr>) {
        *self.shared.endpoints.lock().unwrap_or_else(PoisonError::into_inner) = endpoints;
    }
}

impl Egress<'_> {
    /// An endpoint of the Service.
    pub(in crate::e2e) fn endpoint(&self) -> Option<SocketAddr> {
        self.shared.endpoints.lock().unwrap_or_else(PoisonError::into_inner).first().copied()
    }
}

impl Drop for Egress<'_> {
    fn drop(&mut self) {
        self.shared.over.store(true, Ordering::SeqCst);
        let _ = UnixStream::connect(&self.socket);
        self.plane.kill_api_server();
        let _ = self.plane.start_api_server();
    }
}

/// `CONNECT`, and bytes both ways. Without an endpoint the connection is refused, as kube-proxy refuses it.
fn carry(mut client: UnixStream, shared: &Shared) -> std::io::Result<()> {
    let mut head = Vec::new();
    let mut byte = [0];
    while !head.ends_with(b"\r\n\r\n") && head.len() < 4096 {
        client.read_exact(&mut byte)?;
        head.push(byte[0]);
    }
    let endpoint = {
        let endpoints = shared.endpoints.lock().unwrap_or_else(PoisonError::into_inner);
        let turn = shared.next.fetch_add(1, Ordering::SeqCst);
        turn.checked_rem(endpoints.len()).and_then(|nth| endpoints.get(nth).copied())
    };
    let Some(server) = endpoint.and_then(|endpoint| TcpStream::connect(endpoint).ok()) else {
        return client.write_all(b"HTTP/1.1 503 Service Unavailable\r\nContent-Length: 0\r\n\r\n");
    };
    server.set_nodelay(true)?;
    client.write_all(b"HTTP/1.1 200 OK\r\n\r\n")?;
    let (mut from_client, mut to_server) = (client.try_clone()?, server.try_clone()?);
    std::thread::scope(|scope| {
        scope.spawn(move || {
            let _ = std::io::copy(&mut from_client, &mut to_server);
            let _ = to_server.shutdown(Shutdown::Write);
        });
        let _ = std::io::copy(&mut &server, &mut client);
        let _ = client.shutdown(Shutdown::Both);
    });
    Ok(())
}

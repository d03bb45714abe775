//! A TCP balancer as kube-proxy is one: a new connection goes to one of the endpoints of the moment, and stays there
//! whatever their result is.

use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// Connections that are given up go with the process; the listener goes when this is dropped.
pub(crate) struct Balancer {
    pub(crate) address: SocketAddr,
    shared: Arc<Shared>,
}

#[derive(Default)]
struct Shared {
    endpoints: Mutex<Vec<SocketAddr>>,
    next: AtomicUsize,
    ended: AtomicBool,
}

impl Shared {
    fn pick(&self) -> Option<SocketAddr> {
        let endpoints = self.endpoints.lock().unwrap_or_else(PoisonError::into_inner);
        let nth = self.next.fetch_add(1, Ordering::Relaxed);
        endpoints.get(nth.checked_rem(endpoints.len())?).copied()
    }
}

impl Balancer {
    pub(crate) fn start() -> Result<Self, String> {
        let listener = TcpListener::bind("127.0.0.1:0").map_err(|e| e.to_string())?;
        let address = listener.local_addr().map_err(|e| e.to_string())?;
        let shared = Arc::new(Shared::default());
        let taking = Arc::clone(&shared);
        std::thread::spawn(move || {
            for client in listener.incoming().flatten() {
                if taking.ended.load(Ordering::SeqCst) {
                    return;
                }
                let endpoint = taking.pick();
                std::thread::spawn(move || drop(endpoint.map(|endpoint| carry(&client, endpoint))));
            }
        });
        Ok(Self { address, shared })
    }

    /// The endpoints from now on.
    pub(crate) fn set(&self, endpoints: Vec<SocketAddr>) {
        *self.shared.endpoints.lock().unwrap_or_else(PoisonError::into_inner) = endpoints;
    }
}

impl Drop for Balancer {
    fn drop(&mut self) {
        self.shared.ended.store(true, Ordering::SeqCst);
        let _ = TcpStream::connect(self.address);
    }
}

/// Carries bytes both ways until both sides have said that they are done.
fn carry(client: &TcpStream, endpoint: SocketAddr) -> std::io::Result<()> {
    let server = TcpStream::connect(endpoint)?;
    for stream in [client, &server] {
        stream.set_nodelay(true)?;
    }
    let one_way = |from: &TcpStream, to: &TcpStream| {
        let done = std::io::copy(&mut &*from, &mut &*to);
        let _ = to.shutdown(Shutdown::Write);
        if done.is_err() {
            let _ = from.shutdown(Shutdown::Both);
        }
    };
    std::thread::scope(|scope| {
        scope.spawn(|| one_way(&server, client));
        one_way(client, &server);
    });
    Ok(())
}

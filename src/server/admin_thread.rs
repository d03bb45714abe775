//! The thread of the admin port. Probes and scrapes are answered while every other thread decides.

use super::listener::listen;
use std::io;
use std::net::SocketAddr;
use tokio::net::TcpListener;
use tokio::runtime::{Builder, Handle};
use tokio::sync::oneshot;

/// A runtime on one thread. Dropped, it ends.
pub(super) struct AdminThread {
    handle: Handle,
    _end: oneshot::Sender<()>,
}

impl AdminThread {
    pub(super) fn start() -> io::Result<Self> {
        let runtime = Builder::new_current_thread().enable_all().build()?;
        let handle = runtime.handle().clone();
        let (end, ended) = oneshot::channel();
        let run = move || drop(runtime.block_on(ended));
        std::thread::Builder::new().name("admin".to_owned()).spawn(run)?;
        Ok(Self { handle, _end: end })
    }

    pub(super) fn handle(&self) -> Handle {
        self.handle.clone()
    }

    /// A listener that this thread watches: that of another runtime would wait for its threads.
    pub(super) async fn bind(&self, address: SocketAddr) -> io::Result<TcpListener> {
        self.handle.spawn(async move { listen(address) }).await.map_err(io::Error::other).flatten()
    }
}

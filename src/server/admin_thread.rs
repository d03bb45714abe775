//! The thread of the admin port. Probes and scrapes are answered while every other thread decides.

use std::io;
use std::net::SocketAddr;
use tokio::net::{TcpListener, TcpSocket};
use tokio::runtime::{Builder, Handle};
use tokio::sync::oneshot;

/// Connections that wait until they are accepted. If a crowd fills the queue, the kernel drops a probe's SYN, and the probe is
/// a second late.
const BACKLOG: u32 = 4096;

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
        let listen = async move {
            let socket = if address.is_ipv4() { TcpSocket::new_v4() } else { TcpSocket::new_v6() }?;
            socket.set_reuseaddr(true)?;
            socket.bind(address)?;
            socket.listen(BACKLOG)
        };
        self.handle.spawn(listen).await.map_err(io::Error::other).flatten()
    }
}

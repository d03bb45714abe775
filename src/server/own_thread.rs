//! A thread for work that no other thread may delay, or that may delay no other: probes and scrapes, and TLS handshakes.

use std::io;
use tokio::runtime::{Builder, Handle};
use tokio::sync::oneshot;

/// A runtime on one thread. Dropped, it ends.
pub(super) struct OwnThread {
    handle: Handle,
    _end: oneshot::Sender<()>,
}

impl OwnThread {
    pub(super) fn start(name: &str) -> io::Result<Self> {
        let runtime = Builder::new_current_thread().enable_all().build()?;
        let handle = runtime.handle().clone();
        let (end, ended) = oneshot::channel();
        let run = move || drop(runtime.block_on(ended));
        std::thread::Builder::new().name(name.to_owned()).spawn(run)?;
        Ok(Self { handle, _end: end })
    }

    pub(super) fn handle(&self) -> Handle {
        self.handle.clone()
    }
}

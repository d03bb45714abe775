//! A TCP connection with several owners: HTTP and TLS use it, and the task that closes it still has it afterwards.
//!
//! After a server closes a socket, the kernel keeps the bytes that the client has not read, for up to 20 s. The limits of the server
//! do not count these bytes. So a connection counts as open until its client closes it too. If the client does not, the server
//! resets the connection, and the kernel frees the memory at once.

use rustix::net::{Shutdown, shutdown};
use std::io;
use std::pin::Pin;
use std::sync::{Arc, Weak};
use std::task::{Context, Poll, ready};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;

/// Bytes of a client that are read and dropped while its end is awaited.
const MOST_DROPPED: usize = 64 * 1024;

/// A connection with more than one owner.
#[derive(Debug, Clone)]
pub(super) struct SharedTcpStream(Arc<TcpStream>);

impl SharedTcpStream {
    pub(super) fn new(stream: TcpStream) -> Self {
        Self(Arc::new(stream))
    }

    /// The connection is reset when it is dropped.
    pub(super) fn reset_when_dropped(&self) {
        // Only a socket that is closed already has no such option.
        let _ = self.0.set_zero_linger();
    }

    /// To reset it from elsewhere, as long as somebody has it.
    pub(super) fn handle(&self) -> TcpStreamHandle {
        TcpStreamHandle(Arc::downgrade(&self.0))
    }

    /// Ends our side, and completes once the client has closed its own: it has taken all bytes then. After the time the
    /// connection is reset.
    pub(super) async fn end_and_wait_for_client_or_reset(
        &self,
        time: Duration,
        sooner: impl Future<Output = ()>,
    ) {
        let _ = shutdown(&*self.0, Shutdown::Write);
        let is_closed = tokio::select! {
            closed = self.is_closed_by_client() => closed,
            () = tokio::time::sleep(time) => false,
            () = sooner => false,
        };
        if !is_closed {
            self.reset_when_dropped();
        }
    }

    /// Whether the client has closed its side; `false` if it sends too much first.
    async fn is_closed_by_client(&self) -> bool {
        let (mut part, mut dropped) = ([0; 4096], 0);
        while dropped <= MOST_DROPPED {
            if self.0.readable().await.is_err() {
                return true;
            }
            match self.0.try_read(&mut part) {
                Ok(0) => return true,
                Ok(bytes) => dropped += bytes,
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                Err(_) => return true,
            }
        }
        false
    }
}

/// A connection of somebody else.
#[derive(Debug, Default)]
pub(super) struct TcpStreamHandle(Weak<TcpStream>);

impl TcpStreamHandle {
    /// The connection is reset when it is dropped.
    pub(super) fn reset_when_dropped(&self) {
        if let Some(stream) = self.0.upgrade() {
            SharedTcpStream(stream).reset_when_dropped();
        }
    }
}

/// What a call says, or `None` where the kernel is not ready after all.
fn unless_not_ready<T>(result: io::Result<T>) -> Option<io::Result<T>> {
    match result {
        Err(error) if error.kind() == io::ErrorKind::WouldBlock => None,
        result => Some(result),
    }
}

impl AsyncRead for SharedTcpStream {
    fn poll_read(self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        loop {
            ready!(self.0.poll_read_ready(cx))?;
            if let Some(read) = unless_not_ready(self.0.try_read(buf.initialize_unfilled())) {
                return Poll::Ready(read.map(|bytes| buf.advance(bytes)));
            }
        }
    }
}

impl AsyncWrite for SharedTcpStream {
    fn poll_write(self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        loop {
            ready!(self.0.poll_write_ready(cx))?;
            if let Some(written) = unless_not_ready(self.0.try_write(buf)) {
                return Poll::Ready(written);
            }
        }
    }
    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }
    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(match shutdown(&*self.0, Shutdown::Write) {
            Ok(()) | Err(rustix::io::Errno::NOTCONN) => Ok(()),
            Err(error) => Err(error.into()),
        })
    }
    fn poll_write_vectored(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bufs: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        loop {
            ready!(self.0.poll_write_ready(cx))?;
            if let Some(written) = unless_not_ready(self.0.try_write_vectored(bufs)) {
                return Poll::Ready(written);
            }
        }
    }
    fn is_write_vectored(&self) -> bool {
        true
    }
}

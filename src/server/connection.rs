//! Deadlines of one connection. hyper's header timeout is also its keep-alive timeout: short enough for slow
//! headers it would cut the API server's idle connections, long enough for those it would let a half-sent
//! header sit. So the stream itself is watched: from the first byte of a request to the end of its headers.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Context, Poll};
use std::time::{Duration, Instant};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

/// What a connection is doing, as milliseconds since it began: 0 idle, `BUSY` in a request, else since when a
/// header is being read.
#[derive(Debug)]
pub(super) struct Watch {
    began: Instant,
    state: AtomicU64,
}

const IDLE: u64 = 0;
const BUSY: u64 = u64::MAX;

impl Watch {
    /// A fresh connection owes its first header at once.
    pub(super) fn new() -> Arc<Self> {
        Arc::new(Self { began: Instant::now(), state: AtomicU64::new(1) })
    }

    fn now(&self) -> u64 {
        u64::try_from(self.began.elapsed().as_millis()).unwrap_or(BUSY - 1).max(1)
    }

    /// A whole header is there.
    pub(super) fn request_begins(&self) {
        self.state.store(BUSY, Ordering::Release);
    }

    /// The answer is ready to be written.
    pub(super) fn request_ends(&self) {
        self.state.store(IDLE, Ordering::Release);
    }

    fn bytes_came(&self) {
        let _ = self.state.compare_exchange(IDLE, self.now(), Ordering::AcqRel, Ordering::Acquire);
    }

    /// How long a header has been coming, if one is.
    fn header_age(&self) -> Option<Duration> {
        match self.state.load(Ordering::Acquire) {
            IDLE | BUSY => None,
            since => Some(Duration::from_millis(self.now().saturating_sub(since))),
        }
    }

    /// Ends when a header takes longer than `most`.
    pub(super) async fn slow_header(&self, most: Duration) {
        let step = (most / 10).max(Duration::from_millis(5));
        loop {
            tokio::time::sleep(step).await;
            if self.header_age().is_some_and(|age| age > most) {
                return;
            }
        }
    }
}

/// A stream that tells its watch of bytes that come in.
pub(super) struct Watched<S> {
    stream: S,
    watch: Arc<Watch>,
}

impl<S> Watched<S> {
    pub(super) fn new(stream: S, watch: Arc<Watch>) -> Self {
        Self { stream, watch }
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Watched<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buf.filled().len();
        let poll = Pin::new(&mut self.stream).poll_read(cx, buf);
        if buf.filled().len() > before {
            self.watch.bytes_came();
        }
        poll
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Watched<S> {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write(cx, buf)
    }
    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }
    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bufs: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write_vectored(cx, bufs)
    }
    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }
}

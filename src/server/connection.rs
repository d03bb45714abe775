//! Deadlines of one connection. hyper's header timeout is also its keep-alive timeout: short enough for slow
//! headers it would cut the API server's idle connections, long enough for those it would let a half-sent
//! header sit. So the stream itself is watched: from the first byte of a request to the end of its headers, and
//! while an answer is written that nobody reads.

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
    /// Since when a write makes no progress, in milliseconds; 0 while writes go through.
    stuck_write: AtomicU64,
}

const IDLE: u64 = 0;
const BUSY: u64 = u64::MAX;

impl Watch {
    /// A fresh connection owes its first header at once.
    pub(super) fn new() -> Arc<Self> {
        Arc::new(Self { began: Instant::now(), state: AtomicU64::new(1), stuck_write: AtomicU64::new(0) })
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

    fn wrote(&self, pending: bool) {
        if pending {
            let _ = self.stuck_write.compare_exchange(0, self.now(), Ordering::AcqRel, Ordering::Acquire);
        } else {
            self.stuck_write.store(0, Ordering::Release);
        }
    }

    /// How long a write has made no progress, if one is waiting: the client does not read its answer.
    fn stuck_age(&self) -> Option<Duration> {
        match self.stuck_write.load(Ordering::Acquire) {
            0 => None,
            since => Some(Duration::from_millis(self.now().saturating_sub(since))),
        }
    }

    /// Ends when a header takes longer than `most`, or a write makes no progress for as long.
    pub(super) async fn too_slow(&self, most: Duration) {
        let step = (most / 10).max(Duration::from_millis(5));
        loop {
            tokio::time::sleep(step).await;
            let late = |age: Option<Duration>| age.is_some_and(|age| age > most);
            if late(self.header_age()) || late(self.stuck_age()) {
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
        let poll = Pin::new(&mut self.stream).poll_write(cx, buf);
        self.watch.wrote(poll.is_pending());
        poll
    }
    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let poll = Pin::new(&mut self.stream).poll_flush(cx);
        self.watch.wrote(poll.is_pending());
        poll
    }
    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bufs: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let poll = Pin::new(&mut self.stream).poll_write_vectored(cx, bufs);
        self.watch.wrote(poll.is_pending());
        poll
    }
    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }
}

//! Deadlines of one connection. hyper has one timeout for headers and for keep-alive. If it is short enough for slow
//! headers, it closes the API server's idle connections; if it is long enough for those, half a header may stay for as
//! long. So this module watches the stream itself: from the first byte of a request to the end of its headers, and from an
//! answer to its last byte.

use super::framing_of_bodies::FramingOfBodies;
use super::tls_records_without_data::RecordAllowance;
use super::unread_answers::UnreadAnswers;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::task::{Context, Poll};
use std::time::{Duration, Instant};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::sync::Notify;

/// What a connection is doing, in milliseconds since it began.
#[derive(Debug)]
pub(super) struct ConnectionWatch {
    began: Instant,
    /// `IDLE`, `HANDSHAKE`, `BUSY` in a request, `ENDED`, else since when a header is being read.
    state: AtomicU64,
    idle_since: AtomicU64,
    /// Since when a body is being read; 0 while none is.
    body_since: AtomicU64,
    /// Since when an answer is being written; 0 while none is.
    answer_since: AtomicU64,
    closing: AtomicBool,
    evicted: AtomicBool,
    /// Data in transit does not delay the end.
    hurried: AtomicBool,
    close: Notify,
    pub(super) framing: FramingOfBodies,
}

const IDLE: u64 = 0;
const BUSY: u64 = u64::MAX;
const HANDSHAKE: u64 = BUSY - 1;
const ENDED: u64 = BUSY - 2;

/// What a client is too slow with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Slow {
    /// Sending a header.
    Header,
    /// Taking an answer.
    Answer,
}

/// What a connection waits for when it has nothing to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Waits {
    /// That its client closes it too: no request is answered any more.
    End,
    /// A request.
    Idle,
    /// The end of its handshake.
    Handshake,
    /// The end of a header.
    Header,
    /// The end of a body.
    Body,
    /// That its client takes the rest of an answer.
    Answer,
}

/// A header, body or answer that is incomplete for this long counts as stalled. An API server sends and takes each at once.
const STALLED_AFTER: Duration = Duration::from_secs(2);

impl Waits {
    /// Whether the awaited data may still be in transit after this time.
    pub(super) fn may_be_in_transit(self, age: Duration) -> bool {
        matches!(self, Self::Header | Self::Body | Self::Answer) && age < STALLED_AFTER
    }
}

impl ConnectionWatch {
    /// A connection before its handshake.
    pub(super) fn new() -> Arc<Self> {
        Arc::new(Self {
            began: Instant::now(),
            state: AtomicU64::new(HANDSHAKE),
            idle_since: AtomicU64::new(1),
            body_since: AtomicU64::new(0),
            answer_since: AtomicU64::new(0),
            closing: AtomicBool::new(false),
            evicted: AtomicBool::new(false),
            hurried: AtomicBool::new(false),
            close: Notify::new(),
            framing: FramingOfBodies::default(),
        })
    }

    fn now(&self) -> u64 {
        u64::try_from(self.began.elapsed().as_millis()).unwrap_or(ENDED - 1).max(1)
    }

    fn age(&self, since: u64) -> Duration {
        Duration::from_millis(self.now().saturating_sub(since))
    }

    /// The handshake is over, without a request so far.
    pub(super) fn record_handshake_end(&self) {
        self.idle_since.store(self.now(), Ordering::Release);
        self.state.store(IDLE, Ordering::Release);
    }

    /// The header is complete.
    pub(super) fn record_complete_header(&self) {
        self.framing.record_complete_header();
        self.body_since.store(self.now(), Ordering::Release);
        self.state.store(BUSY, Ordering::Release);
    }

    /// The body is complete.
    pub(super) fn record_complete_body(&self) {
        self.body_since.store(0, Ordering::Release);
    }

    /// The answer is ready to be written.
    pub(super) fn record_answer_ready(&self) {
        let now = self.now();
        self.record_complete_body();
        self.answer_since.store(now, Ordering::Release);
        self.idle_since.store(now, Ordering::Release);
        self.state.store(IDLE, Ordering::Release);
    }

    /// Everything is written.
    pub(super) fn record_all_written(&self) {
        self.answer_since.store(0, Ordering::Release);
    }

    /// No request of the connection is answered any more: what was being read, decided or written is given up.
    pub(super) fn record_end(&self) {
        self.idle_since.store(self.now(), Ordering::Release);
        self.state.store(ENDED, Ordering::Release);
    }

    /// The end of the stream cannot be written yet.
    fn record_pending_shutdown(&self) {
        let _ = self.answer_since.compare_exchange(0, self.now(), Ordering::AcqRel, Ordering::Acquire);
    }

    fn record_first_byte_of_header(&self) {
        let _ = self.state.compare_exchange(IDLE, self.now(), Ordering::AcqRel, Ordering::Acquire);
    }

    /// How long a header has been coming, if one is.
    fn header_age(&self) -> Option<Duration> {
        match self.state.load(Ordering::Acquire) {
            IDLE | BUSY | HANDSHAKE | ENDED => None,
            since => Some(self.age(since)),
        }
    }

    /// How long an answer has been on its way, if one is.
    fn answer_age(&self) -> Option<Duration> {
        match self.answer_since.load(Ordering::Acquire) {
            0 => None,
            since => Some(self.age(since)),
        }
    }

    /// How long the connection has been idle, if it is.
    pub(super) fn idle_for(&self) -> Option<Duration> {
        let idle = self.state.load(Ordering::Acquire) == IDLE && self.answer_age().is_none();
        idle.then(|| self.age(self.idle_since.load(Ordering::Acquire)))
    }

    /// What the connection waits for from its client, if it does, and how long it has. An answer is waited for only while no
    /// further request is being decided.
    pub(super) fn awaited_from_client_and_how_long(&self, now: Instant) -> Option<(Waits, Duration)> {
        let age_of_connection = now.saturating_duration_since(self.began);
        let how_long = |since: u64| age_of_connection.saturating_sub(Duration::from_millis(since));
        let how_long_if_at_all = |since: &AtomicU64| match since.load(Ordering::Acquire) {
            0 => None,
            since => Some(how_long(since)),
        };
        let idle = || how_long(self.idle_since.load(Ordering::Acquire));
        match self.state.load(Ordering::Acquire) {
            ENDED => Some((Waits::End, idle())),
            HANDSHAKE => Some((Waits::Handshake, age_of_connection)),
            IDLE => Some(match how_long_if_at_all(&self.answer_since) {
                None => (Waits::Idle, idle()),
                Some(age) => (Waits::Answer, age),
            }),
            BUSY => Some((Waits::Body, how_long_if_at_all(&self.body_since)?)),
            header => Some((Waits::Header, how_long(header))),
        }
    }

    /// Whether the connection has to make room and has no request in progress.
    pub(super) fn must_make_room_and_is_waiting(&self) -> bool {
        let hurried = self.hurried.load(Ordering::Acquire);
        self.evicted.load(Ordering::Acquire)
            && self
                .awaited_from_client_and_how_long(Instant::now())
                .is_some_and(|(waits, age)| hurried || !waits.may_be_in_transit(age))
    }

    /// How old the connection is.
    pub(super) fn age_of_connection(&self) -> Duration {
        self.began.elapsed()
    }

    /// Asks the connection to make room: to end once it waits for its client, or, if `hurried`, even while a header or a body
    /// is in transit.
    pub(super) fn ask_to_make_room(&self, hurried: bool) {
        self.hurried.store(hurried, Ordering::Release);
        self.evicted.store(true, Ordering::Release);
        self.ask_to_end_once_idle();
    }

    /// Completes when the connection has to close to make room.
    pub(super) async fn wait_until_asked_to_make_room(&self) {
        while !self.evicted.load(Ordering::Acquire) {
            self.close.notified().await;
        }
    }

    /// Asks the connection to end once it is idle.
    pub(super) fn ask_to_end_once_idle(&self) {
        self.closing.store(true, Ordering::Release);
        self.close.notify_one();
    }

    /// Whether the connection has to end.
    #[cfg(test)]
    pub(super) fn is_to_close(&self) -> bool {
        self.closing.load(Ordering::Acquire)
    }

    /// Completes when the connection has to end.
    pub(super) async fn wait_until_asked_to_close(&self) {
        while !self.closing.load(Ordering::Acquire) {
            self.close.notified().await;
        }
    }

    /// Completes when a header or an answer is late. It wakes when one could be late, not on every change.
    pub(super) async fn wait_until_client_is_late(&self, header: Duration, answer: Duration) -> Slow {
        let left = |age: Option<Duration>, most: Duration| most.saturating_sub(age.unwrap_or_default());
        loop {
            let (of_header, of_answer) = (left(self.header_age(), header), left(self.answer_age(), answer));
            if of_header.is_zero() {
                return Slow::Header;
            }
            if of_answer.is_zero() {
                return Slow::Answer;
            }
            tokio::time::sleep(of_header.min(of_answer)).await;
        }
    }
}

/// Bytes that a connection reads until others have a turn. A read takes up to 16 KiB, and tokio lets a connection that always
/// has more read 128 times. If turns were shorter, more bodies would be read at a time, and would need their memory for longer.
pub(super) const READ_PER_TURN: usize = 512 * 1024;

/// A stream that reports received bytes and finished writes to its watch.
pub(super) struct WatchedStream<S> {
    stream: S,
    read_in_turn: usize,
    watch: Arc<ConnectionWatch>,
    records: Arc<RecordAllowance>,
    unread: Arc<UnreadAnswers>,
}

impl<S> WatchedStream<S> {
    pub(super) fn new(
        stream: S,
        watch: Arc<ConnectionWatch>,
        records: Arc<RecordAllowance>,
        unread: Arc<UnreadAnswers>,
    ) -> Self {
        Self { stream, read_in_turn: 0, watch, records, unread }
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for WatchedStream<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        if self.read_in_turn >= READ_PER_TURN {
            self.read_in_turn = 0;
            cx.waker().wake_by_ref();
            return Poll::Pending;
        }
        let before = buf.filled().len();
        let poll = Pin::new(&mut self.stream).poll_read(cx, buf);
        let data = buf.filled().len() - before;
        if data > 0 {
            self.read_in_turn += data;
            self.watch.record_first_byte_of_header();
            self.records.earn_by_data(data);
            self.watch.framing.receive(data)?;
        } else {
            self.read_in_turn = 0;
        }
        poll
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for WatchedStream<S> {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write(cx, buf);
        self.unread.record_write(&written);
        written
    }
    /// hyper flushes after each answer, and a flush is done once the kernel has every byte.
    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let poll = Pin::new(&mut self.stream).poll_flush(cx);
        if poll.is_ready() {
            self.watch.record_all_written();
            self.unread.record_all_written();
        } else {
            self.unread.record_write(&Poll::Pending);
        }
        poll
    }
    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let poll = Pin::new(&mut self.stream).poll_shutdown(cx);
        if poll.is_pending() {
            self.watch.record_pending_shutdown();
        }
        poll
    }
    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bufs: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write_vectored(cx, bufs);
        self.unread.record_write(&written);
        written
    }
    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }
}

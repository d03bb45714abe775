//! A limit for TLS records that bring no data or very little: KeyUpdates, alerts, empty records, and records of one byte. Each
//! costs the server up to 20 microseconds for some 27 bytes, and no deadline of a request runs while no data comes. rustls refuses more than 32 KeyUpdates in a row, but an empty
//! record of data between them begins a new row (rustls src/common_state.rs, `received_app_data`). So the server counts all records
//! below TLS, and closes a connection on which too many bring no data or very little. It also limits the client's messages of the handshake.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicUsize, Ordering};
use std::task::{Context, Poll};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

/// Records that may come before any data, and the most that data can earn for later ones. A handshake has less than ten.
const MOST: u32 = 256;
/// Records that one read of data earns, and the bytes that earn one more. Go's smallest records have 1,400 bytes, except the
/// last one of a text that is written at once.
const EARNED_BY_READ: usize = 4;
const BYTES_PER_RECORD: usize = 256;
/// Reads with less data than this are small (bytes).
const SMALL_READ: usize = 64;
/// Small reads that earn as much as others, until a longer read earns more of them: one for each [`SMALL_READ`]. A header of
/// HTTP has over 64 bytes and comes at once.
const MOST_SMALL_READS: u32 = 1_024;
/// Most bytes of the first message of a client (RFC 8446, section 4.1.2). Go and OpenSSL send up to 1.8 KiB, with key shares of
/// ML-KEM. Decoded, a message takes up to thirty times its length until its turn to be answered.
const MOST_OF_FIRST_MESSAGE: usize = 8 * 1024;
/// Most bytes of the rest of a handshake: a second first message, where another key share was asked for, or the client's
/// certificates. A request may follow in the same read.
const MOST_OF_REST_OF_HANDSHAKE: usize = 32 * 1024;
/// Length of a record's header: type, version and length of the rest (RFC 8446, section 5.1).
const HEADER: usize = 5;

/// The records that a connection may still send without data.
#[derive(Debug)]
pub(super) struct RecordAllowance {
    left: AtomicU32,
    small_reads: AtomicU32,
    spent: AtomicBool,
    /// Bytes of the first message that may still come, and then of the rest of the handshake. What follows has no limit.
    handshake: AtomicUsize,
    /// Bytes that the server has sent.
    sent: AtomicUsize,
}

impl RecordAllowance {
    pub(super) fn new() -> Arc<Self> {
        Arc::new(Self {
            left: AtomicU32::new(MOST),
            small_reads: AtomicU32::new(MOST_SMALL_READS),
            spent: AtomicBool::new(false),
            handshake: AtomicUsize::new(MOST_OF_FIRST_MESSAGE),
            sent: AtomicUsize::new(0),
        })
    }

    /// The first message of the client is complete.
    pub(super) fn record_first_message(&self) {
        self.handshake.store(MOST_OF_REST_OF_HANDSHAKE, Ordering::Relaxed);
    }

    /// The handshake is complete.
    pub(super) fn record_handshake_end(&self) {
        self.handshake.store(usize::MAX, Ordering::Relaxed);
    }

    /// Bytes that the server has sent.
    pub(super) fn sent_bytes(&self) -> usize {
        self.sent.load(Ordering::Relaxed)
    }

    /// Whether the connection sent too many.
    pub(super) fn is_spent(&self) -> bool {
        self.spent.load(Ordering::Relaxed)
    }

    /// Data came: so many bytes in one read.
    pub(super) fn earn_by_data(&self, bytes: usize) {
        match bytes / SMALL_READ {
            0 => {
                let take = |left: u32| left.checked_sub(1);
                if self.small_reads.fetch_update(Ordering::Relaxed, Ordering::Relaxed, take).is_err() {
                    return;
                }
            }
            more => add_up_to(&self.small_reads, more, MOST_SMALL_READS),
        }
        add_up_to(&self.left, (bytes / BYTES_PER_RECORD).saturating_add(EARNED_BY_READ), MOST);
    }

    fn spend_handshake(&self, bytes: usize) -> io::Result<()> {
        let left = self.handshake.load(Ordering::Relaxed);
        if left == usize::MAX {
            return Ok(());
        }
        let left = left
            .checked_sub(bytes)
            .ok_or_else(|| io::Error::other("a message of the handshake is too long"))?;
        self.handshake.store(left, Ordering::Relaxed);
        Ok(())
    }

    fn record_sent(&self, written: &Poll<io::Result<usize>>) {
        if let Poll::Ready(Ok(bytes)) = written {
            self.sent.store(self.sent_bytes().saturating_add(*bytes), Ordering::Relaxed);
        }
    }

    fn spend(&self, records: u32) -> io::Result<()> {
        let spend = |left: u32| left.checked_sub(records);
        if self.left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, spend).is_err() {
            self.spent.store(true, Ordering::Relaxed);
            return Err(io::Error::other("too many TLS records without data"));
        }
        Ok(())
    }
}

fn add_up_to(left: &AtomicU32, more: usize, most: u32) {
    let more = u32::try_from(more).unwrap_or(most);
    let add = |left: u32| Some(left.saturating_add(more).min(most));
    let _ = left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, add);
}

/// Counts the records in a stream of bytes that comes in parts.
#[derive(Debug, Default)]
struct RecordCounter {
    header: [u8; HEADER],
    /// Bytes of the header so far.
    known: usize,
    /// Bytes that are left of the record.
    rest: usize,
}

impl RecordCounter {
    /// Records that begin in the next bytes.
    fn count_records_in(&mut self, mut bytes: &[u8]) -> u32 {
        let mut records = 0;
        while !bytes.is_empty() {
            if self.rest > 0 {
                let skipped = self.rest.min(bytes.len());
                self.rest -= skipped;
                bytes = bytes.get(skipped..).unwrap_or_default();
                continue;
            }
            let Some((byte, after)) = bytes.split_first() else { break };
            if let Some(slot) = self.header.get_mut(self.known) {
                *slot = *byte;
            }
            self.known += 1;
            bytes = after;
            if self.known == HEADER {
                let [_, _, _, high, low] = self.header;
                (self.rest, self.known) = (usize::from(u16::from_be_bytes([high, low])), 0);
                records += 1;
            }
        }
        records
    }
}

/// A stream below TLS that ends with an error once the allowance is spent.
pub(super) struct CountedRecords<S> {
    stream: S,
    counter: RecordCounter,
    allowance: Arc<RecordAllowance>,
}

impl<S> CountedRecords<S> {
    pub(super) fn new(stream: S, allowance: Arc<RecordAllowance>) -> Self {
        Self { stream, counter: RecordCounter::default(), allowance }
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for CountedRecords<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buf.filled().len();
        let poll = Pin::new(&mut self.stream).poll_read(cx, buf);
        let bytes = buf.filled().get(before..).unwrap_or_default();
        let records = self.counter.count_records_in(bytes);
        match self.allowance.spend(records).and_then(|()| self.allowance.spend_handshake(bytes.len())) {
            Ok(()) => poll,
            Err(error) => Poll::Ready(Err(error)),
        }
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for CountedRecords<S> {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write(cx, buf);
        self.allowance.record_sent(&written);
        written
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
        let written = Pin::new(&mut self.stream).poll_write_vectored(cx, bufs);
        self.allowance.record_sent(&written);
        written
    }
    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A record with so many bytes behind its header.
    fn record(length: u16) -> Vec<u8> {
        let [high, low] = length.to_be_bytes();
        [vec![23, 3, 3, high, low], vec![5; length.into()]].concat()
    }

    #[test]
    fn records_are_counted_wherever_the_parts_end() {
        let bytes = [record(22), record(0), record(16_401), record(1)].concat();
        for size in [1, 2, 3, 4, 5, 6, 7, 27, 1000, bytes.len()] {
            let mut counter = RecordCounter::default();
            let counted: u32 = bytes.chunks(size).map(|part| counter.count_records_in(part)).sum();
            assert_eq!((counted, counter.rest, counter.known), (4, 0, 0), "by {size}");
        }
    }

    #[test]
    fn data_earns_records() {
        let allowance = RecordAllowance::new();
        assert!(allowance.spend(MOST).is_ok() && allowance.spend(0).is_ok());
        allowance.earn_by_data(1);
        assert!(allowance.spend(4).is_ok() && !allowance.is_spent());
        // A body in the smallest records of a client that is not hostile.
        for _ in 0..10_000 {
            assert!(
                allowance.left.load(Ordering::Relaxed) > 0 || {
                    allowance.earn_by_data(1_400);
                    true
                }
            );
            assert!(allowance.spend(1).is_ok());
            allowance.earn_by_data(1_400);
        }
        allowance.earn_by_data(usize::MAX);
        assert!(allowance.spend(MOST + 1).is_err() && allowance.is_spent());
    }

    #[test]
    fn small_reads_earn_until_there_are_too_many() {
        let allowance = RecordAllowance::new();
        let read_bytes_one_by_one = || {
            (0..100_000).take_while(|_| {
                allowance.earn_by_data(1);
                allowance.spend(1).is_ok()
            })
        };
        assert_eq!(read_bytes_one_by_one().count(), 1_024 + 255);
        // A header and the last bytes of its body, again and again.
        let allowance = RecordAllowance::new();
        for _ in 0..10_000 {
            for bytes in [200, 1] {
                assert!(allowance.spend(1).is_ok());
                allowance.earn_by_data(bytes);
            }
        }
    }
}

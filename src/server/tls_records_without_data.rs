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
/// Records with fewer bytes than this are short. Each costs as much as one of some kilobytes, whether it brings data or a new key.
const SHORT_RECORD: usize = 1_024;
/// Short records that may come before any data, and the most that requests and data can earn for later ones.
const MOST_SHORT: u32 = 512;
/// Short records that a request earns. Go sends a header and the rest of a body in few.
const SHORT_EARNED_BY_REQUEST: usize = 16;
/// Bytes of data that earn one more. Go's records become longer within the first kilobytes of a body.
const BYTES_PER_SHORT_RECORD: usize = 16 * 1024;
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
    short: AtomicU32,
    /// Data that has earned no short record so far (bytes).
    data: AtomicUsize,
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
            short: AtomicU32::new(MOST_SHORT),
            data: AtomicUsize::new(0),
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
        let data = self.data.load(Ordering::Relaxed).saturating_add(bytes);
        self.data.store(data % BYTES_PER_SHORT_RECORD, Ordering::Relaxed);
        add_up_to(&self.short, data / BYTES_PER_SHORT_RECORD, MOST_SHORT);
        add_up_to(&self.left, (bytes / BYTES_PER_RECORD).saturating_add(EARNED_BY_READ), MOST);
    }

    /// The header of a request is complete.
    pub(super) fn earn_by_request(&self) {
        add_up_to(&self.short, SHORT_EARNED_BY_REQUEST, MOST_SHORT);
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

    fn spend(&self, records: Records) -> io::Result<()> {
        let is_spent = |left: &AtomicU32, count: u32| {
            let spend = |left: u32| left.checked_sub(count);
            left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, spend).is_err()
        };
        if is_spent(&self.left, records.all) || is_spent(&self.short, records.short) {
            self.spent.store(true, Ordering::Relaxed);
            return Err(io::Error::other("too many TLS records without data, or with little"));
        }
        Ok(())
    }
}

/// Records that came: all of them, and the short ones (count).
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
struct Records {
    all: u32,
    short: u32,
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
    fn count_records_in(&mut self, mut bytes: &[u8]) -> Records {
        let mut records = Records::default();
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
                records.all += 1;
                records.short += u32::from(self.rest < SHORT_RECORD);
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
            let (mut all, mut short) = (0, 0);
            for part in bytes.chunks(size) {
                let counted = counter.count_records_in(part);
                (all, short) = (all + counted.all, short + counted.short);
            }
            assert_eq!((all, short, counter.rest, counter.known), (4, 3, 0, 0), "by {size}");
        }
    }

    const LONG: Records = Records { all: 1, short: 0 };
    const SHORT: Records = Records { all: 1, short: 1 };

    #[test]
    fn data_earns_records() {
        let allowance = RecordAllowance::new();
        assert!(allowance.spend(Records { all: MOST, short: 0 }).is_ok());
        allowance.earn_by_data(1);
        assert!(allowance.spend(Records { all: 4, short: 0 }).is_ok() && !allowance.is_spent());
        // A body in the smallest records of a client that is not hostile.
        for _ in 0..10_000 {
            allowance.earn_by_data(1_400);
            assert!(allowance.spend(LONG).is_ok());
        }
        allowance.earn_by_data(usize::MAX);
        assert!(allowance.spend(Records { all: MOST + 1, short: 0 }).is_err() && allowance.is_spent());
    }

    /// Records of which so many pass with as much data each.
    fn passing(allowance: &RecordAllowance, data: usize, record: Records) -> usize {
        let pass = |_: &usize| {
            let passes = allowance.spend(record).is_ok();
            allowance.earn_by_data(data);
            passes
        };
        (0..100_000).take_while(pass).count()
    }

    #[test]
    fn short_records_are_few_whether_they_bring_data_or_not() {
        assert_eq!(passing(&RecordAllowance::new(), 1, SHORT), 512);
        assert_eq!(passing(&RecordAllowance::new(), 64, SHORT), 514);
        // Requests with a header and a short body, again and again.
        let allowance = RecordAllowance::new();
        for _ in 0..10_000 {
            for bytes in [200, 1, 500, 40] {
                assert!(allowance.spend(SHORT).is_ok());
                allowance.earn_by_data(bytes);
            }
            allowance.earn_by_request();
        }
        // A large body whose records have keys between them: one for each 16 KiB, and those from before.
        let allowance = RecordAllowance::new();
        let mut keys = 0;
        for _ in 0..2_000 {
            assert!(allowance.spend(LONG).is_ok());
            allowance.earn_by_data(4_000);
            while keys < 100_000
                && allowance.left.load(Ordering::Relaxed) > 2
                && allowance.spend(SHORT).is_ok()
            {
                keys += 1;
            }
            if allowance.is_spent() {
                break;
            }
        }
        assert!(keys < 1_100, "{keys}");
    }
}

//! A limit for what a client sends besides the data of bodies. hyper bounds headers, chunk extensions and trailers, but reads a
//! chunk's length with any number of zeros before it and of blanks after it, at 10 nanoseconds per byte and without a pause
//! (src/proto/h1/decode.rs, `read_size` and `read_size_lws`). The limit of a body does not see these bytes.

use std::io;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// Bytes that may come besides the data of a body. A header has at most 16 KiB, and so have the trailers.
const MOST_BESIDES_DATA: usize = 64 * 1024;
/// For each of so many bytes of data, one byte more may come. The lengths of chunks have less than 16 bytes for each KiB of data,
/// because a body may come in few pieces only.
const DATA_PER_BYTE: usize = 64;

/// Bytes since the last header, and the data among them.
#[derive(Debug, Default)]
pub(super) struct FramingOfBodies {
    received: AtomicUsize,
    data: AtomicUsize,
    exceeded: AtomicBool,
}

impl FramingOfBodies {
    /// A header is complete. Some bytes of its body may have come already, and are not counted.
    pub(super) fn record_complete_header(&self) {
        self.received.store(0, Ordering::Relaxed);
        self.data.store(0, Ordering::Relaxed);
    }

    /// So many bytes of data were taken from the body.
    pub(super) fn record_data(&self, bytes: usize) {
        self.data.fetch_add(bytes, Ordering::Relaxed);
    }

    /// So many bytes came.
    ///
    /// # Errors
    /// If too few of the bytes were data.
    pub(super) fn receive(&self, bytes: usize) -> io::Result<()> {
        let received = self.received.fetch_add(bytes, Ordering::Relaxed).saturating_add(bytes);
        let data = self.data.load(Ordering::Relaxed);
        if received > data.saturating_add(data / DATA_PER_BYTE).saturating_add(MOST_BESIDES_DATA) {
            self.exceeded.store(true, Ordering::Relaxed);
            return Err(io::Error::other("too many bytes besides the data of the body"));
        }
        Ok(())
    }

    /// Whether too many came.
    pub(super) fn is_exceeded(&self) -> bool {
        self.exceeded.load(Ordering::Relaxed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_body_may_have_as_much_besides_its_data() {
        let framing = FramingOfBodies::default();
        for _ in 0..2 {
            framing.record_complete_header();
            assert!(framing.receive(MOST_BESIDES_DATA).is_ok());
        }
        assert!(!framing.is_exceeded());
        assert!(framing.receive(1).is_err() && framing.is_exceeded());
    }

    #[test]
    fn data_makes_room() {
        let framing = FramingOfBodies::default();
        for _ in 0..1_000 {
            // A chunk of a KiB.
            assert!(framing.receive("400\r\n\r\n".len() + 1_024).is_ok());
            framing.record_data(1_024);
        }
        assert!(framing.receive(16_000 + MOST_BESIDES_DATA).is_err());
    }
}

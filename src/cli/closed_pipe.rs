//! Standard output whose reader closes the pipe early.

use std::io;

/// A writer whose reader may close the pipe early (`| head`): further output is dropped, and the exit code is still that of
/// the whole review.
pub(super) struct IgnoresClosedPipe<W> {
    inner: W,
    closed: bool,
}

impl<W: io::Write> IgnoresClosedPipe<W> {
    pub(super) fn new(inner: W) -> Self {
        Self { inner, closed: false }
    }

    fn note_closed_pipe<T>(&mut self, outcome: io::Result<T>, instead: T) -> io::Result<T> {
        match outcome {
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => {
                self.closed = true;
                Ok(instead)
            }
            other => other,
        }
    }
}

impl<W: io::Write> io::Write for IgnoresClosedPipe<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.closed {
            return Ok(bytes.len());
        }
        let written = self.inner.write(bytes);
        self.note_closed_pipe(written, bytes.len())
    }
    fn flush(&mut self) -> io::Result<()> {
        if self.closed {
            return Ok(());
        }
        let flushed = self.inner.flush();
        self.note_closed_pipe(flushed, ())
    }
}

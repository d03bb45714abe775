//! Logs: JSON lines on stderr, level from `FABRIC_ADMISSION_LOG` (default `info`). Objects and values of
//! variables are never logged.

use std::io::{self, Write};
use tracing_subscriber::EnvFilter;

/// The client library logs answers that it cannot read as they came; one may be a Secret.
const DEFAULT: &str = "info,kube_client=error";

/// Installs the log writer. A second call changes nothing.
pub fn install() {
    let filter = EnvFilter::try_from_env("FABRIC_ADMISSION_LOG").unwrap_or_else(|_| EnvFilter::new(DEFAULT));
    let _ = tracing_subscriber::fmt()
        .json()
        .with_env_filter(filter)
        .with_writer(|| Lossy(io::stderr()))
        .try_init();
}

/// Loses what cannot be written: a full disk or a closed pipe must not cost an answer. The subscriber would report the
/// error by `eprintln!`, which panics where stderr takes nothing.
struct Lossy<W>(W);

impl<W: Write> Write for Lossy<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let _ = self.0.write_all(bytes);
        Ok(bytes.len())
    }
    fn flush(&mut self) -> io::Result<()> {
        let _ = self.0.flush();
        Ok(())
    }
}

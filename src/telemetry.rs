//! Logs: JSON lines on stderr, level from `FABRIC_ADMISSION_LOG` (default `info`). Objects and values of
//! variables are never logged.

use tracing_subscriber::EnvFilter;

/// Installs the log writer. A second call changes nothing.
pub fn install() {
    let filter = EnvFilter::try_from_env("FABRIC_ADMISSION_LOG").unwrap_or_else(|_| EnvFilter::new("info"));
    let _ = tracing_subscriber::fmt().json().with_env_filter(filter).with_writer(std::io::stderr).try_init();
}

//! Wall-clock time, which goes on while a machine is suspended.

use std::path::PathBuf;
use std::time::SystemTime;

/// The clock that certificates are judged by.
#[derive(Debug, Clone, Default)]
pub struct Clock {
    /// For tests: a file with the number of seconds by which this clock is off.
    pub offset: Option<PathBuf>,
}

impl Clock {
    /// Unix time in seconds.
    pub(crate) fn now(&self) -> i64 {
        let real = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        let real = i64::try_from(real.as_secs()).unwrap_or(i64::MAX);
        let text = self.offset.as_ref().and_then(|file| std::fs::read_to_string(file).ok());
        let offset = text.and_then(|text| text.trim().parse::<i64>().ok()).unwrap_or(0);
        real.saturating_add(offset)
    }
}

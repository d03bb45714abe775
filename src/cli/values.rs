//! Values that several groups of flags share.

pub(super) fn seconds(text: &str) -> Result<f64, String> {
    text.parse::<f64>()
        .ok()
        .filter(|s| (0.0..=3600.0).contains(s))
        .ok_or_else(|| "expected a number of seconds from 0 to 3600".to_owned())
}

/// Identity of this replica: host name (a pod's name) and process id.
pub(super) fn identity() -> String {
    let host = std::env::var("HOSTNAME").unwrap_or_default();
    format!("{host}_{}", std::process::id())
}

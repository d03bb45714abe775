//! Values that several groups of flags share.

pub(super) fn seconds(text: &str) -> Result<f64, String> {
    text.parse::<f64>()
        .ok()
        .filter(|s| (0.0..=3600.0).contains(s))
        .ok_or_else(|| "a number of seconds from 0 to 3600 is expected".to_owned())
}

/// Names this replica: a pod by its name, elsewhere by the process as well.
pub(super) fn identity() -> String {
    let host = std::env::var("HOSTNAME").unwrap_or_default();
    format!("{host}_{}", std::process::id())
}

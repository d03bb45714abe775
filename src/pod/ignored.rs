//! A value of which only the presence counts.

use serde::Deserialize;
use serde::de::IgnoredAny;

/// A value of which only the presence counts.
#[derive(Debug, Default, Deserialize)]
pub struct Ignored(#[allow(dead_code, reason = "only its presence is read")] Option<IgnoredAny>);

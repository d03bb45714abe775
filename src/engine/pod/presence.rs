//! A value whose content does not matter, only its presence.

use serde::Deserialize;
use serde::de::IgnoredAny;

/// A value whose content does not matter, only its presence.
#[derive(Debug, Default, Deserialize)]
pub struct Presence(#[allow(dead_code, reason = "only its presence is read")] Option<IgnoredAny>);

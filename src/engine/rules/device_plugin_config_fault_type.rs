//! A device plugin's configuration inside of another object, as several rules report it.

use super::finding::Severity;
use super::json_in_text_fields::EmbeddedFault;
use std::borrow::Cow;
use std::sync::Arc;

/// A configuration in an object.
#[derive(Debug)]
pub(super) struct DevicePluginConfiguration {
    /// JSON pointer of the text.
    pub(super) pointer: String,
    /// Equal texts share it.
    pub(super) text: Arc<TextOfConfiguration>,
}

/// The text of a configuration.
#[derive(Debug)]
pub(super) struct TextOfConfiguration {
    pub(super) text: String,
    /// The faults that the plugin or its operator finds.
    pub(super) faults: Result<Vec<DevicePluginFault>, NotRead>,
}

/// Why a text is not read.
#[derive(Debug)]
pub(super) enum NotRead {
    /// The plugin and its operator cannot read it either.
    Fault(EmbeddedFault),
    /// It is too long for the rules: its length and the limit, in words.
    TooLong(String),
}

/// What is wrong: where in the text, how bad, what, and what to do.
#[derive(Debug)]
pub(super) struct DevicePluginFault {
    pub(super) pointer: String,
    pub(super) severity: Severity,
    pub(super) message: String,
    pub(super) fix: Cow<'static, str>,
    /// Its consequence.
    pub(super) concern: ConsequenceOfFault,
}

/// The consequence of a fault; each is a rule.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ConsequenceOfFault {
    /// The plugin exits with an error.
    Start,
    /// A pool has other devices than meant, or none.
    Devices,
    /// Only the operator's own webhook refuses it.
    Operator,
}

//! Lines of a watch and pages of a list, with the objects left as text.

use serde::Deserialize;
use serde_json::value::RawValue;

/// One line of a watch.
#[derive(Debug, Deserialize)]
pub(super) struct Event<'a> {
    #[serde(rename = "type")]
    pub(super) kind: &'a str,
    #[serde(borrow)]
    pub(super) object: &'a RawValue,
}

/// A page of a list.
#[derive(Debug, Deserialize)]
pub(super) struct Page<'a> {
    #[serde(default)]
    pub(super) metadata: ListMeta,
    #[serde(borrow, default)]
    pub(super) items: Option<Vec<&'a RawValue>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ListMeta {
    #[serde(default)]
    pub(super) resource_version: Option<String>,
    #[serde(default, rename = "continue")]
    pub(super) next: Option<String>,
}

/// Which object it is, and in which state.
#[derive(Debug, Default, Deserialize)]
pub(super) struct Header {
    #[serde(default)]
    pub(super) metadata: ObjectMeta,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ObjectMeta {
    #[serde(default)]
    pub(super) name: Option<String>,
    #[serde(default)]
    pub(super) namespace: Option<String>,
    #[serde(default)]
    pub(super) resource_version: Option<String>,
}

impl Header {
    /// Reads the header of an object; `None` where even that is malformed.
    pub(super) fn of(object: &RawValue) -> Option<Self> {
        serde_json::from_str(object.get()).ok()
    }
}

/// What the API server says went wrong (`metav1.Status`).
#[derive(Debug, Default, Deserialize)]
pub(super) struct Status {
    #[serde(default)]
    pub(super) code: u16,
    #[serde(default)]
    pub(super) message: String,
}

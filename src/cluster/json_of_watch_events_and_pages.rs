//! Lines of a watch and pages of a list, with the objects left as text: each is decoded once, as the fact of its kind.

use super::watched_kinds::WatchedKind;
use crate::snapshot::Identity;
use serde::Deserialize;
use serde_json::value::RawValue;

/// One line of a watch.
#[derive(Debug, Deserialize)]
pub(super) struct WatchEvent<'a> {
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
    #[serde(default)]
    pub(super) remaining_item_count: Option<u64>,
}

/// Identity and version of an object.
#[derive(Debug, Default, Deserialize)]
struct Header {
    #[serde(default)]
    metadata: ObjectMeta,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase")]
struct ObjectMeta {
    #[serde(default)]
    name: Option<String>,
    #[serde(default)]
    namespace: Option<String>,
    #[serde(default)]
    resource_version: Option<String>,
}

/// Which object it is, where it gives no fact that would say so. Parts that cannot be read are empty.
pub(super) fn read_identity_of_object(kind: &WatchedKind, object: &RawValue) -> Identity {
    let header: Header = serde_json::from_str(object.get()).unwrap_or_default();
    let ObjectMeta { name, namespace, resource_version } = header.metadata;
    let namespace = namespace.filter(|_| kind.kind.namespaced()).unwrap_or_default();
    Identity { namespace, name: name.unwrap_or_default(), version: resource_version }
}

/// An error of the API server (`metav1.Status`).
#[derive(Debug, Default, Deserialize)]
pub(super) struct Status {
    #[serde(default)]
    pub(super) code: u16,
    #[serde(default)]
    pub(super) message: String,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cluster::watched_kinds::WATCHED;
    use crate::facts::FactKind;
    use crate::snapshot::{Builder, Layer};

    fn added(kind: &WatchedKind, json: &str) -> Option<Identity> {
        let mut builder = Builder::default();
        builder.add_identified(Layer::Live, kind.group, kind.name(), json, "default").unwrap()
    }

    /// Otherwise each event of a kind would be decoded twice, or a watch would go on from the wrong place.
    #[test]
    fn the_decoding_of_a_fact_identifies_its_object() {
        let metadata = r#"{"metadata":{"namespace":"n","name":"x","resourceVersion":"7"}"#;
        for kind in WATCHED.iter().filter(|k| k.kind != FactKind::FabricProfile) {
            let json = format!(r#"{metadata},"spec":{{}}}}"#);
            let raw: &RawValue = serde_json::from_str(&json).unwrap();
            let identity = read_identity_of_object(kind, raw);
            assert_eq!((identity.name.as_str(), identity.version.as_deref()), ("x", Some("7")));
            assert_eq!(added(kind, &json), Some(identity), "{}", kind.name());
        }
    }

    #[test]
    fn an_odd_resource_version_refuses_no_fact() {
        for odd in ["7", "null", "[1]", r#"{"a":1}"#, "true"] {
            for kind in WATCHED.iter().filter(|k| k.kind != FactKind::FabricProfile) {
                let json = format!(r#"{{"metadata":{{"name":"x","resourceVersion":{odd}}},"spec":{{}}}}"#);
                let identity = added(kind, &json).unwrap();
                assert_eq!((identity.name.as_str(), identity.version), ("x", None), "{} {odd}", kind.name());
            }
        }
    }

    #[test]
    fn an_event_is_read_in_either_order_of_its_fields() {
        for line in [r#"{"type":"ADDED","object":{"a":1}}"#, r#"{"object":{"a":1},"type":"ADDED"}"#] {
            let event: WatchEvent<'_> = serde_json::from_str(line).unwrap();
            assert_eq!((event.kind, event.object.get()), ("ADDED", r#"{"a":1}"#));
        }
    }
}

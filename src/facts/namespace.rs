//! Namespace: its labels and its default profile.

use super::object::Meta;
use crate::pod::decode::mapping;
use crate::review::decode::{DecodeError, object as decode};
use crate::snapshot::{NAME_LABEL, NamespaceFacts, PROFILE_ANNOTATION};
use serde::Deserialize;
use serde_json::value::RawValue;
use std::collections::BTreeMap;

#[derive(Deserialize)]
struct NamespaceObject {
    #[serde(default, deserialize_with = "mapping")]
    metadata: Option<NamespaceMeta>,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase")]
struct NamespaceMeta {
    #[serde(default)]
    name: Option<String>,
    #[serde(default)]
    resource_version: Option<Box<RawValue>>,
    #[serde(default)]
    labels: Option<BTreeMap<String, Option<String>>>,
    #[serde(default)]
    annotations: Option<BTreeMap<String, Option<String>>>,
}

pub(super) fn read(json: &str) -> Result<(Meta, NamespaceFacts), DecodeError> {
    let object: NamespaceObject = decode(json)?;
    let metadata = object.metadata.unwrap_or_default();
    let labels = metadata.labels.unwrap_or_default();
    let mut annotations = metadata.annotations.unwrap_or_default();
    let mut facts = NamespaceFacts {
        labels: labels.into_iter().map(|(k, v)| (k, v.unwrap_or_default())).collect(),
        profile: annotations.remove(PROFILE_ANNOTATION).map(Option::unwrap_or_default),
    };
    if let Some(name) = &metadata.name {
        // The API server sets this label on every namespace; files often leave it out.
        facts.labels.insert(NAME_LABEL.to_owned(), name.clone());
    }
    let resource_version = metadata.resource_version;
    Ok((Meta { name: metadata.name, namespace: None, resource_version }, facts))
}

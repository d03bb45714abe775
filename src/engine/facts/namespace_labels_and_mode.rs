//! Namespace: its labels and its default profile.

use super::PodSecurity;
use super::object_shape::Meta;
use crate::json::decode_with_place::{DecodeError, decode_object as decode};
use crate::json::labels_within_limits::labels_within_limits;
use crate::json::maps_of_request::texts_of_keys;
use crate::json::types_of_decoded_fields::optional_struct;
use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;
use std::collections::BTreeMap;

/// Label of a namespace that opts in, with the mode as its value.
pub const MODE_LABEL: &str = "fabric-admission.dev/mode";
/// Annotation that names a profile: on a pod for itself, on a namespace as its default.
pub const PROFILE_ANNOTATION: &str = "fabric-admission.dev/profile";
/// Label that the API server gives every namespace: its name.
pub const NAME_LABEL: &str = "kubernetes.io/metadata.name";
/// Label by which Pod Security is enforced in a namespace.
pub const POD_SECURITY_LABEL: &str = "pod-security.kubernetes.io/enforce";

/// Whether errors deny.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum EnforcementMode {
    /// Errors deny.
    Enforce,
    /// Errors are reported, never denied.
    Audit,
}

impl EnforcementMode {
    /// Reads the value of the mode label.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        match text {
            "enforce" => Some(Self::Enforce),
            "audit" => Some(Self::Audit),
            _ => None,
        }
    }
}

/// The known facts about one namespace.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct NamespaceFacts {
    /// Labels.
    pub labels: BTreeMap<String, String>,
    /// Whether it has more labels than are kept. Whether it has a label that is missing here is then unknown.
    pub has_more_labels: bool,
    /// The namespace's default profile.
    pub profile: Option<String>,
}

impl NamespaceFacts {
    /// The mode that the namespace opted in with; `None` if it did not.
    #[must_use]
    pub fn mode(&self) -> Option<EnforcementMode> {
        self.labels.get(MODE_LABEL).and_then(|v| EnforcementMode::parse(v))
    }
    /// Level of Pod Security that is enforced, if it is labelled.
    #[must_use]
    pub fn pod_security(&self) -> Option<PodSecurity> {
        self.labels.get(POD_SECURITY_LABEL).map(|level| PodSecurity::parse(level))
    }
}

#[derive(Deserialize)]
struct NamespaceObject {
    #[serde(default, deserialize_with = "optional_struct")]
    metadata: Option<NamespaceMeta>,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase")]
struct NamespaceMeta {
    #[serde(default)]
    name: Option<String>,
    #[serde(default)]
    resource_version: Option<Box<RawValue>>,
    #[serde(default, deserialize_with = "read_labels")]
    labels: Labels,
    #[serde(default, deserialize_with = "read_annotations")]
    annotations: BTreeMap<&'static str, String>,
}

#[derive(Default)]
struct Labels {
    kept: BTreeMap<String, String>,
    has_more: bool,
}

/// The labels that decide on enforcement are kept whatever the others are: who may set other labels of a namespace may not be
/// allowed to change these.
fn read_labels<'de, D: Deserializer<'de>>(d: D) -> Result<Labels, D::Error> {
    let read = labels_within_limits(d, &[MODE_LABEL, POD_SECURITY_LABEL, NAME_LABEL])?;
    let kept = read.kept.into_iter().map(|(key, value)| (key.0.into_owned(), value.0.into_owned()));
    Ok(Labels { kept: kept.collect(), has_more: read.has_more })
}

fn read_annotations<'de, D: Deserializer<'de>>(d: D) -> Result<BTreeMap<&'static str, String>, D::Error> {
    texts_of_keys(d, &[PROFILE_ANNOTATION])
}

pub(super) fn read(json: &str) -> Result<(Meta, NamespaceFacts), DecodeError> {
    let object: NamespaceObject = decode(json)?;
    let metadata = object.metadata.unwrap_or_default();
    let mut annotations = metadata.annotations;
    let mut facts = NamespaceFacts {
        labels: metadata.labels.kept,
        has_more_labels: metadata.labels.has_more,
        profile: annotations.remove(PROFILE_ANNOTATION),
    };
    if let Some(name) = &metadata.name {
        // The API server sets this label on every namespace; files often leave it out.
        facts.labels.insert(NAME_LABEL.to_owned(), name.clone());
    }
    let resource_version = metadata.resource_version;
    Ok((Meta { name: metadata.name, namespace: None, resource_version }, facts))
}

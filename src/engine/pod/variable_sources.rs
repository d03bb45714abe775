//! Sources of a container's variables and scripts besides its own fields.

use super::place_index::{FEW, PlaceIndex};
use crate::json::types_of_decoded_fields::{Objects, QuantityText, Text, optional_struct};
use serde::Deserialize;

/// `env[].valueFrom`.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ValueFrom<'a> {
    /// A field of the pod.
    #[serde(borrow, default, deserialize_with = "optional_struct")]
    pub field_ref: Option<FieldRef<'a>>,
    /// A resource of a container of the pod.
    #[serde(borrow, default, deserialize_with = "optional_struct")]
    pub resource_field_ref: Option<ResourceFieldRef<'a>>,
    /// A key of a ConfigMap.
    #[serde(default, deserialize_with = "optional_struct")]
    pub config_map_key_ref: Option<KeyRef>,
    /// A key of a Secret.
    #[serde(default, deserialize_with = "optional_struct")]
    pub secret_key_ref: Option<KeyRef>,
    /// A key of a file in a volume.
    #[serde(default, deserialize_with = "optional_struct")]
    pub file_key_ref: Option<KeyRef>,
}

/// `fieldRef`.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct FieldRef<'a> {
    /// Path of the field, such as `metadata.annotations['key']`.
    #[serde(borrow, default)]
    pub field_path: Option<Text<'a>>,
}

/// `resourceFieldRef`.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ResourceFieldRef<'a> {
    /// Container; the variable's own if absent.
    #[serde(borrow, default)]
    pub container_name: Option<Text<'a>>,
    /// `limits.` or `requests.` and a resource.
    #[serde(borrow, default)]
    pub resource: Option<Text<'a>>,
    /// Unit of the value; 1 if absent or 0.
    #[serde(borrow, default)]
    pub divisor: Option<QuantityText<'a>>,
}

/// `configMapKeyRef`, `secretKeyRef` and `fileKeyRef`.
#[derive(Debug, Default, Deserialize)]
pub struct KeyRef {
    /// Whether the variable keeps its value if the key is missing.
    #[serde(default)]
    pub optional: Option<bool>,
}

impl ValueFrom<'_> {
    /// Whether the kubelet skips the entry if its source does not exist. An earlier entry of the same name then counts (kubernetes/kubernetes pkg/kubelet/kubelet_pods.go, makeEnvironmentVariables).
    #[must_use]
    pub fn may_be_missing(&self) -> bool {
        // The API server refuses two sources; the kubelet would take the field first.
        if self.field_ref.is_some() || self.resource_field_ref.is_some() {
            return false;
        }
        let keys = [&self.config_map_key_ref, &self.secret_key_ref, &self.file_key_ref];
        keys.into_iter().flatten().any(|key| key.optional == Some(true))
    }
}

/// `envFrom[]`.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct EnvFrom<'a> {
    /// Prefix of every name.
    #[serde(borrow, default)]
    pub prefix: Option<Text<'a>>,
    /// A ConfigMap; `None` for a Secret.
    #[serde(borrow, default, deserialize_with = "optional_struct")]
    pub config_map_ref: Option<ObjectName<'a>>,
}

/// An object of the pod's namespace by name.
#[derive(Debug, Default, Deserialize)]
pub struct ObjectName<'a> {
    /// Name.
    #[serde(borrow, default)]
    pub name: Option<Text<'a>>,
}

/// `volumes[].configMap`.
#[derive(Debug, Default, Deserialize)]
pub struct ConfigMapVolume<'a> {
    /// Name.
    #[serde(borrow, default)]
    pub name: Option<Text<'a>>,
    /// Keys that become files; without items, all keys under their own names.
    #[serde(borrow, default)]
    pub items: Option<Objects<KeyToPath<'a>>>,
    /// Items by path, built on first use.
    #[serde(skip)]
    pub(super) by_path: PlaceIndex,
}

/// `volumes[].configMap.items[]`.
#[derive(Debug, Default, Deserialize)]
pub struct KeyToPath<'a> {
    /// Key.
    #[serde(borrow, default)]
    pub key: Option<Text<'a>>,
    /// Path in the volume.
    #[serde(borrow, default)]
    pub path: Option<Text<'a>>,
}

impl ConfigMapVolume<'_> {
    /// The key behind a path in the volume.
    #[must_use]
    pub fn key_at_path<'p>(&'p self, path: &'p str) -> Option<&'p str> {
        let Some(items) = &self.items else { return Some(path) };
        let path_of = |place: usize| items.get(place).and_then(|item| item.path.as_deref());
        if items.len() < FEW {
            return items.iter().find(|i| i.path.as_deref() == Some(path))?.key.as_deref();
        }
        // Of two items with one path, the first counts.
        let place = self.by_path.places(items.len(), path_of, path).next()?;
        items.get(place)?.key.as_deref()
    }
}

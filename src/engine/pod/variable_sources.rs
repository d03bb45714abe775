//! Sources of a container's variables and scripts besides its own fields.

use crate::json::values::{Objects, Text, mapping};
use serde::Deserialize;

/// `envFrom[]`.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct EnvFrom<'a> {
    /// Prefix of every name.
    #[serde(borrow, default)]
    pub prefix: Option<Text<'a>>,
    /// A ConfigMap; `None` for a Secret.
    #[serde(borrow, default, deserialize_with = "mapping")]
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
    pub fn key<'p>(&'p self, path: &'p str) -> Option<&'p str> {
        let Some(items) = &self.items else { return Some(path) };
        let item = items.iter().find(|i| i.path.as_deref() == Some(path))?;
        item.key.as_deref()
    }
}

//! The mounts of a plan as JSON, for patches and for copies of a container.

use super::{Edit, SHM_PATH};
use crate::json::write::push_object;

impl Edit {
    /// Whether it adds a mount.
    pub(crate) fn is_mount(&self) -> bool {
        matches!(self, Self::ShmMount { .. } | Self::FileMount { .. })
    }

    /// Writes the mount that it adds.
    pub(crate) fn push_mount(&self, out: &mut String) {
        push_object(out, |mount| match self {
            Self::ShmMount { volume, .. } => {
                mount.text("name", volume);
                mount.text("mountPath", SHM_PATH);
            }
            Self::FileMount { volume, path, sub_path, .. } => {
                mount.text("name", volume);
                mount.text("mountPath", path);
                if let Some(path) = sub_path {
                    mount.text("subPath", path);
                }
                mount.key("readOnly").push_str("true");
            }
            _ => {}
        });
    }
}

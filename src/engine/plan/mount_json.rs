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
                mount.push_text_member("name", volume);
                mount.push_text_member("mountPath", SHM_PATH);
            }
            Self::FileMount { volume, path, sub_path, .. } => {
                mount.push_text_member("name", volume);
                mount.push_text_member("mountPath", path);
                if let Some(path) = sub_path {
                    mount.push_text_member("subPath", path);
                }
                mount.push_key("readOnly").push_str("true");
            }
            _ => {}
        });
    }
}

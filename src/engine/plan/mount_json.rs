//! The mounts of a plan as JSON, for patches and for copies of a container.

use super::{Edit, SHM_PATH};
use crate::json::write::{object, string};

impl Edit {
    /// The mount that it adds, if it adds one.
    pub(crate) fn mount(&self) -> Option<String> {
        match self {
            Self::ShmMount { volume, .. } => {
                Some(object(&[("name", string(volume)), ("mountPath", string(SHM_PATH))]))
            }
            Self::FileMount { volume, path, sub_path, .. } => {
                let mut members = vec![("name", string(volume)), ("mountPath", string(path))];
                members.extend(sub_path.as_ref().map(|path| ("subPath", string(path))));
                members.push(("readOnly", "true".to_owned()));
                Some(object(&members))
            }
            _ => None,
        }
    }
}

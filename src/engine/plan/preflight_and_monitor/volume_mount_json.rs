//! A volume mount as JSON.

use crate::json::write::{object, string};

pub(super) fn mount(volume: &str, path: &str, sub_path: Option<&str>, read_only: bool) -> String {
    let mut members = vec![("name", string(volume)), ("mountPath", string(path))];
    members.extend(sub_path.map(|path| ("subPath", string(path))));
    members.extend(read_only.then(|| ("readOnly", "true".to_owned())));
    object(&members)
}

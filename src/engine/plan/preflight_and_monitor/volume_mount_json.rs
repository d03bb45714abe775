//! A volume mount as JSON.

use crate::json::write::{json_of_pairs, json_of_text};

pub(super) fn mount(volume: &str, path: &str, sub_path: Option<&str>, read_only: bool) -> String {
    let mut members = vec![("name", json_of_text(volume)), ("mountPath", json_of_text(path))];
    members.extend(sub_path.map(|path| ("subPath", json_of_text(path))));
    members.extend(read_only.then(|| ("readOnly", "true".to_owned())));
    json_of_pairs(&members)
}

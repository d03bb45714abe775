//! Profiles from the binary, from files, and by name.

use super::{inputs, objects};
use crate::fabric::base::BASES;
use crate::fabric::{FabricProfile, Profile};
use crate::manifest::{self, Item};
use crate::report::Unread;
use crate::snapshot::{Builder, Layer, Snapshot};
use crate::text::nearest;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The compiled-in profiles.
pub(super) fn bases() -> Result<Vec<FabricProfile>, String> {
    BASES
        .iter()
        .map(|(name, text)| {
            let file = format!("policies/{name}.yaml");
            match manifest::read(&file, text.as_bytes()).into_iter().next() {
                Some(Item::Document(document)) => {
                    crate::review::decode::object(document.json.get()).map_err(|e| format!("{file}: {e}"))
                }
                Some(Item::Error(error)) => Err(error.to_string()),
                Some(Item::Empty { .. }) | None => Err(format!("{file}: no document")),
            }
        })
        .collect()
}

/// Loads the profiles of a site. Any problem keeps the run from using half of a set: the caller ends with 2.
pub(super) fn load(path: &Path, builder: &mut Builder, problems: &mut Vec<(Unread, Option<String>)>) {
    let loaded = inputs::read(&[PathBuf::from(path)]);
    for document in loaded.files.iter().flat_map(|f| &f.documents) {
        for found in objects::of(document) {
            if let objects::Found::Object(object) = found
                && object.kind != "FabricProfile"
            {
                let message = format!("expected a FabricProfile, found {}", object.kind);
                problems.push((objects::unread(document, &object.pointer, &message), None));
            }
        }
    }
    objects::facts(&loaded, Layer::Cluster, "default", builder, problems);
    problems.extend(loaded.unread);
}

/// A profile for `--profile`: the site's own, else a compiled-in one as it stands.
pub(super) fn by_name(
    name: &str,
    snapshot: &Snapshot,
    bases: &[FabricProfile],
) -> Result<Arc<Profile>, String> {
    if let Some(profile) = snapshot.profile(name) {
        return Ok(Arc::clone(profile));
    }
    if let Some(base) = bases.iter().find(|b| b.metadata.name == name) {
        return Profile::resolve(base, bases).map(Arc::new).map_err(|error| error.to_string());
    }
    let names =
        || snapshot.profiles().map(|p| p.name.as_str()).chain(bases.iter().map(|b| b.metadata.name.as_str()));
    let hint = match nearest(name, names()) {
        Some(near) => format!("did you mean {near:?}?"),
        None => format!("known: {}", names().collect::<Vec<_>>().join(", ")),
    };
    Err(format!("there is no profile {name:?}; {hint}"))
}

//! Profiles from the binary, from files, and by name.

use super::{files, objects};
use crate::manifest::{self, Document, Item};
use crate::profile::base::BASES;
use crate::profile::{FabricProfile, Profile};
use crate::report::Unread;
use crate::snapshot::{Builder, Layer, Snapshot};
use crate::text::nearest;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The compiled-in profiles.
pub(in crate::cli) fn bases() -> Result<Vec<FabricProfile>, String> {
    BASES
        .iter()
        .map(|(name, text)| {
            let file = format!("policies/{name}.yaml");
            match manifest::read(&file, text.as_bytes()).into_iter().next() {
                Some(Item::Document(document)) => {
                    FabricProfile::read(document.json.get()).map_err(|e| format!("{file}: {e}"))
                }
                Some(Item::Error(error)) => Err(error.to_string()),
                Some(Item::Empty { .. }) | None => Err(format!("{file}: the file has no document")),
            }
        })
        .collect()
}

/// Loads the profiles of a site, all of them or none: half a set could give a pod another fabric than its peers.
pub(in crate::cli) fn load(
    path: &Path,
    bases: &[FabricProfile],
    builder: &mut Builder,
    problems: &mut Vec<(Unread, Option<String>)>,
) {
    let before = problems.len();
    let profiles = all(path, bases, problems);
    if problems.len() == before {
        for profile in &profiles {
            // Checked above; a second look cannot find anything new.
            let _ = builder.add_profile(Layer::Cluster, profile);
        }
    }
}

/// The profiles of a file or directory, and the faults of those that cannot be used.
pub(in crate::cli) fn all(
    path: &Path,
    bases: &[FabricProfile],
    problems: &mut Vec<(Unread, Option<String>)>,
) -> Vec<FabricProfile> {
    let mut profiles = Vec::new();
    let mut visit = |documents: &[Document]| {
        for document in documents {
            for found in objects::of(document) {
                match found {
                    objects::Found::Object(object) if object.kind == "FabricProfile" => {
                        match one(object.json, bases) {
                            Ok(profile)
                                if profiles
                                    .iter()
                                    .any(|p: &FabricProfile| p.metadata.name == profile.metadata.name) =>
                            {
                                let message = format!("duplicate FabricProfile {:?}", profile.metadata.name);
                                let at = (object.pointer.as_str(), "/metadata/name");
                                problems.push((objects::unread(document, object.json, at, &message), None));
                            }
                            Ok(profile) => profiles.push(profile),
                            Err(faults) => {
                                for (pointer, message) in faults {
                                    let at = (object.pointer.as_str(), pointer.as_str());
                                    problems
                                        .push((objects::unread(document, object.json, at, &message), None));
                                }
                            }
                        }
                    }
                    objects::Found::Object(object) => {
                        let message = format!("expected a FabricProfile, found {}", object.kind);
                        let at = (object.pointer.as_str(), "");
                        problems.push((objects::unread(document, object.json, at, &message), None));
                    }
                    objects::Found::Unread(unread) => problems.push((unread, None)),
                    objects::Found::Skipped(skipped) => {
                        let message = format!("expected a FabricProfile: {}", skipped.reason);
                        let (whole, at) = (document.json.get(), ("", skipped.source.pointer.as_str()));
                        problems.push((objects::unread(document, whole, at, &message), None));
                    }
                }
            }
        }
    };
    let loaded = files::read(&[PathBuf::from(path)], false, &mut visit);
    problems.extend(loaded.unread);
    profiles
}

/// Faults of one profile that are reported; each takes one more pass over it.
const MAX_FAULTS: usize = 50;

/// A profile, or all its faults, each with its pointer. A fault is found by reading the profile again without the
/// values that have one.
fn one(json: &str, bases: &[FabricProfile]) -> Result<FabricProfile, Vec<(String, String)>> {
    let mut text = json.to_owned();
    let mut faults: Vec<(String, String)> = Vec::new();
    while faults.len() < MAX_FAULTS {
        let (pointer, message) = match fault(&text, bases) {
            Ok(profile) if faults.is_empty() => return Ok(profile),
            Ok(_) => break,
            Err(fault) => fault,
        };
        // A fault below a value that was removed follows from the removal.
        if faults.iter().any(|(removed, _)| removed.starts_with(&pointer)) {
            break;
        }
        let rest = without(&text, &pointer);
        faults.push((pointer, message));
        match rest {
            Some(rest) => text = rest,
            None => break,
        }
    }
    Err(faults)
}

/// The first fault of a profile.
fn fault(json: &str, bases: &[FabricProfile]) -> Result<FabricProfile, (String, String)> {
    let profile = FabricProfile::read(json)
        .map_err(|e| (e.pointer, format!("FabricProfile cannot be read: {}", e.message)))?;
    Profile::resolve(&profile, bases).map_err(|e| (e.pointer.clone(), e.to_string()))?;
    Ok(profile)
}

/// A JSON text without the member at a pointer; `None` where it is not a member of an object.
fn without(json: &str, pointer: &str) -> Option<String> {
    let (parent, key) = pointer.rsplit_once('/')?;
    let mut value: serde_json::Value = serde_json::from_str(json).ok()?;
    let key = key.replace("~1", "/").replace("~0", "~");
    value.pointer_mut(parent)?.as_object_mut()?.remove(&key)?;
    Some(value.to_string())
}

/// The profile for `--profile`: one of the site, else a compiled-in one unchanged.
pub(in crate::cli) fn by_name(
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
    Err(format!("profile {name:?} does not exist; {hint}"))
}

//! Profiles from the binary, from files, and by name.

use super::{documents_to_objects, files, profile_faults};
use crate::manifest::{self, Document, Item, Part};
use crate::profile::built_in_bases::BASES;
use crate::profile::{FabricProfile, Profile};
use crate::report::Unread;
use crate::snapshot::{Builder, Layer, Snapshot};
use crate::text::nearest;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The compiled-in profiles.
pub(in crate::cli) fn built_in_profiles() -> Result<Vec<FabricProfile>, String> {
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
pub(in crate::cli) fn add_all_profiles_or_none(
    path: &Path,
    bases: &[FabricProfile],
    builder: &mut Builder,
    problems: &mut Vec<(Unread, Option<String>)>,
) {
    let before = problems.len();
    let profiles = read_profiles_and_faults(path, bases, problems);
    if problems.len() == before {
        for profile in &profiles {
            // Checked above; a second look cannot find anything new.
            let _ = builder.add_profile(Layer::Cluster, profile);
        }
    }
}

/// The profiles of a file or directory, and the faults of those that cannot be used.
pub(in crate::cli) fn read_profiles_and_faults(
    path: &Path,
    bases: &[FabricProfile],
    problems: &mut Vec<(Unread, Option<String>)>,
) -> Vec<FabricProfile> {
    let mut profiles = Vec::new();
    let mut visit = |documents: &[Document]| {
        for document in documents {
            for found in documents_to_objects::objects_in(document) {
                match found {
                    documents_to_objects::Found::Object(object) if object.kind == "FabricProfile" => {
                        match profile_faults::check(object.json, bases) {
                            Ok(profile)
                                if profiles
                                    .iter()
                                    .any(|p: &FabricProfile| p.metadata.name == profile.metadata.name) =>
                            {
                                let message = format!("duplicate FabricProfile {:?}", profile.metadata.name);
                                let at = (object.pointer.as_str(), "/metadata/name");
                                problems.push((
                                    documents_to_objects::unread(document, object.part(), at, &message),
                                    None,
                                ));
                            }
                            Ok(profile) => profiles.push(profile),
                            Err(faults) => {
                                for fault in faults {
                                    let message =
                                        fault.of_profile(object.name.as_deref().unwrap_or_default());
                                    let at = (object.pointer.as_str(), fault.pointer.as_str());
                                    problems.push((
                                        documents_to_objects::unread(document, object.part(), at, &message),
                                        None,
                                    ));
                                }
                            }
                        }
                    }
                    documents_to_objects::Found::Object(object) => {
                        let message = format!("expected a FabricProfile, found {}", object.kind);
                        let at = (object.pointer.as_str(), "");
                        problems.push((
                            documents_to_objects::unread(document, object.part(), at, &message),
                            None,
                        ));
                    }
                    documents_to_objects::Found::Unread(unread) => problems.push((unread, None)),
                    documents_to_objects::Found::Skipped(skipped) => {
                        let message = format!("expected a FabricProfile: {}", skipped.reason);
                        let at = ("", skipped.source.pointer.as_str());
                        problems.push((
                            documents_to_objects::unread(document, Part::default(), at, &message),
                            None,
                        ));
                    }
                }
            }
        }
    };
    let (_, unreadable) = files::read(&[PathBuf::from(path)], false, &mut visit);
    problems.extend(unreadable.unread);
    profiles
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

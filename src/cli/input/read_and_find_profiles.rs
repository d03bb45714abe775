//! Profiles from the binary, from files, and by name.

use super::{documents_to_objects, profile_faults, read_files_and_directories};
use crate::manifest::{self, Document, DocumentOrError, Part};
use crate::profile::built_in_bases::BASES;
use crate::profile::{FabricProfile, Profile};
use crate::report::UnreadInput;
use crate::snapshot::{Builder, Layer, Snapshot};
use crate::text::nearest_if_probably_meant;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The compiled-in profiles.
pub(in crate::cli) fn built_in_profiles() -> Result<Vec<FabricProfile>, String> {
    BASES
        .iter()
        .map(|(name, text)| {
            let file = format!("policies/{name}.yaml");
            match manifest::read_documents_of_file(&file, text.as_bytes()).into_iter().next() {
                Some(DocumentOrError::Document(document)) => {
                    FabricProfile::read(document.json.get()).map_err(|e| format!("{file}: {e}"))
                }
                Some(DocumentOrError::Error(error)) => Err(error.to_string()),
                Some(DocumentOrError::Empty { .. }) | None => {
                    Err(format!("{file}: the file has no document"))
                }
            }
        })
        .collect()
}

/// Loads the profiles of a site, all of them or none: half a set could give a pod another fabric than its peers.
pub(in crate::cli) fn add_all_profiles_or_none(
    path: &Path,
    bases: &[FabricProfile],
    builder: &mut Builder,
    problems: &mut Vec<(UnreadInput, Option<String>)>,
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
    problems: &mut Vec<(UnreadInput, Option<String>)>,
) -> Vec<FabricProfile> {
    let mut profiles = Vec::new();
    let mut visit = |documents: &[Document]| {
        for document in documents {
            for found in documents_to_objects::objects_in(document) {
                match found {
                    documents_to_objects::ObjectSkippedOrUnread::Object(object)
                        if object.kind == "FabricProfile" =>
                    {
                        match profile_faults::profile_or_all_faults(object.json, bases) {
                            Ok(profile)
                                if profiles
                                    .iter()
                                    .any(|p: &FabricProfile| p.metadata.name == profile.metadata.name) =>
                            {
                                let message = format!("duplicate FabricProfile {:?}", profile.metadata.name);
                                let at = (object.pointer.as_str(), "/metadata/name");
                                problems.push((
                                    documents_to_objects::unread_value_with_place(
                                        document,
                                        object.part_of_document(),
                                        at,
                                        &message,
                                    ),
                                    None,
                                ));
                            }
                            Ok(profile) => profiles.push(profile),
                            Err(faults) => {
                                for fault in faults {
                                    let message = fault.message_with_profile_name(
                                        object.name.as_deref().unwrap_or_default(),
                                    );
                                    let at = (object.pointer.as_str(), fault.pointer.as_str());
                                    problems.push((
                                        documents_to_objects::unread_value_with_place(
                                            document,
                                            object.part_of_document(),
                                            at,
                                            &message,
                                        ),
                                        None,
                                    ));
                                }
                            }
                        }
                    }
                    documents_to_objects::ObjectSkippedOrUnread::Object(object) => {
                        let message = format!("expected a FabricProfile, found {}", object.kind);
                        let at = (object.pointer.as_str(), "");
                        problems.push((
                            documents_to_objects::unread_value_with_place(
                                document,
                                object.part_of_document(),
                                at,
                                &message,
                            ),
                            None,
                        ));
                    }
                    documents_to_objects::ObjectSkippedOrUnread::Unread(unread) => {
                        problems.push((unread, None))
                    }
                    documents_to_objects::ObjectSkippedOrUnread::Skipped(skipped) => {
                        let message = format!("expected a FabricProfile: {}", skipped.reason);
                        let at = ("", skipped.source.pointer.as_str());
                        problems.push((
                            documents_to_objects::unread_value_with_place(
                                document,
                                Part::default(),
                                at,
                                &message,
                            ),
                            None,
                        ));
                    }
                }
            }
        }
    };
    let (_, unreadable) =
        read_files_and_directories::read_inputs_and_visit_all(&[PathBuf::from(path)], false, &mut visit);
    problems.extend(unreadable.unread);
    profiles
}

/// The profile for `--profile`: one of the site, else a compiled-in one unchanged.
pub(in crate::cli) fn find_site_or_built_in_profile(
    name: &str,
    snapshot: &Snapshot,
    bases: &[FabricProfile],
) -> Result<Arc<Profile>, String> {
    if let Some(profile) = snapshot.profile(name) {
        return Ok(Arc::clone(profile));
    }
    if let Some(base) = bases.iter().find(|b| b.metadata.name == name) {
        return Profile::checked_with_base(base, bases).map(Arc::new).map_err(|error| error.to_string());
    }
    let names =
        || snapshot.profiles().map(|p| p.name.as_str()).chain(bases.iter().map(|b| b.metadata.name.as_str()));
    let hint = match nearest_if_probably_meant(name, names()) {
        Some(near) => format!("did you mean {near:?}?"),
        None => format!("known: {}", names().collect::<Vec<_>>().join(", ")),
    };
    Err(format!("profile {name:?} does not exist; {hint}"))
}

//! Profiles from the binary, from files, and by name.

use super::documents_to_objects::{MAX_PROFILES, ObjectSkippedOrUnread, objects_in, unread_value_with_place};
use super::{profile_faults, read_files_and_directories};
use crate::manifest::{self, Document, DocumentOrError, Part};
use crate::profile::built_in_bases::BASES;
use crate::profile::{FabricProfile, Profile};
use crate::report::UnreadInput;
use crate::snapshot::{Builder, Layer, Snapshot};
use crate::text::nearest_if_probably_meant;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Faults of profiles after which only the first fault of each further profile is reported.
const FAULTS_BEFORE_ONLY_FIRST: usize = 200;

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
        let found = documents
            .iter()
            .flat_map(|document| objects_in(document).into_iter().map(move |found| (document, found)));
        for (document, found) in found {
            let most = if problems.len() < FAULTS_BEFORE_ONLY_FIRST { profile_faults::MAX_FAULTS } else { 1 };
            match profile_or_unread(document, found, bases, &profiles, most) {
                Ok(profile) => profiles.push(profile),
                Err(unread) => problems.extend(unread.into_iter().map(|unread| (unread, None))),
            }
        }
    };
    let (_, unreadable) =
        read_files_and_directories::read_inputs_and_visit_all(&[PathBuf::from(path)], false, &mut visit);
    problems.extend(unreadable.unread);
    profiles
}

/// The usable profile in an object that was found, or why it is none. `known`: the profiles that were read before.
fn profile_or_unread(
    document: &Document,
    found: ObjectSkippedOrUnread<'_>,
    bases: &[FabricProfile],
    known: &[FabricProfile],
    most_faults: usize,
) -> Result<FabricProfile, Vec<UnreadInput>> {
    let object = match found {
        ObjectSkippedOrUnread::Object(object) => object,
        ObjectSkippedOrUnread::Unread(unread) => return Err(vec![unread]),
        ObjectSkippedOrUnread::Skipped(skipped) => {
            let message = format!("expected a FabricProfile: {}", skipped.reason);
            let at = ("", skipped.source.pointer.as_str());
            return Err(vec![unread_value_with_place(document, Part::default(), at, &message)]);
        }
    };
    let unread = |pointer: &str, message: &str| {
        unread_value_with_place(document, object.part_of_document(), (&object.pointer, pointer), message)
    };
    if object.kind != "FabricProfile" {
        return Err(vec![unread("", &format!("expected a FabricProfile, found {}", object.kind))]);
    }
    let name = object.name.as_deref().unwrap_or_default();
    let profile = profile_faults::profile_or_faults(object.json, bases, most_faults).map_err(|faults| {
        let faults = faults.iter().map(|fault| (&fault.pointer, fault.message_with_profile_name(name)));
        faults.map(|(pointer, message)| unread(pointer, &message)).collect::<Vec<_>>()
    })?;
    if known.len() >= MAX_PROFILES {
        return Err(vec![unread("", &format!("more than {MAX_PROFILES} FabricProfiles"))]);
    }
    if known.iter().any(|known| known.metadata.name == profile.metadata.name) {
        let message = format!("duplicate FabricProfile {:?}", profile.metadata.name);
        return Err(vec![unread("/metadata/name", &message)]);
    }
    Ok(profile)
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

//! The expectation of a FabricProfile in a file, for people who run preflight by hand. The webhook knows the pod and writes
//! a more exact one.

use crate::cli::input::read_and_find_profiles;
use crate::manifest::{self, DocumentOrError};
use crate::preflight::expectation_document::Expectation;
use crate::profile::{FabricProfile, Profile};
use std::path::Path;

/// The expectation as JSON.
pub(super) fn read_profile_and_make_expectation(path: &Path) -> Result<String, String> {
    let file = path.display().to_string();
    let bytes = std::fs::read(path).map_err(|error| format!("{file}: {error}"))?;
    let document = manifest::read_documents_of_file(&file, &bytes).into_iter().find_map(|item| match item {
        DocumentOrError::Document(document) => Some(Ok(document)),
        DocumentOrError::Error(error) => Some(Err(error.to_string())),
        DocumentOrError::Empty { .. } => None,
    });
    let document = document.ok_or_else(|| format!("{file}: the file has no document"))??;
    let profile = FabricProfile::read(document.json.get()).map_err(|error| format!("{file}: {error}"))?;
    let profile = Profile::checked_with_base(&profile, &read_and_find_profiles::built_in_profiles()?)
        .map_err(|error| format!("{file}: {error}"))?;
    Ok(of(&profile).to_text())
}

fn of(profile: &Profile) -> Expectation {
    // A rail without a resource is over a shared HCA, which says nothing about the number of devices.
    let units = profile.rails.iter().filter(|rail| rail.resource.is_some()).count();
    let all = units == profile.rails.len() && units > 0;
    Expectation {
        profile: Some(format!("{}@{}", profile.name, profile.fingerprint)),
        transport: Some(profile.transport),
        devices: u32::try_from(units).ok().filter(|_| all),
        interfaces: profile.rails.iter().map(|rail| rail.interface.clone()).collect(),
        rate: profile.preflight.as_ref().and_then(|preflight| preflight.rate),
        peers: profile.preflight.as_ref().map(|preflight| preflight.peers.clone()).unwrap_or_default(),
        ..Expectation::default()
    }
}

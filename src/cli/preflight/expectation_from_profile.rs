//! The expectation of a FabricProfile in a file, for people who run preflight by hand. The webhook knows the pod and writes
//! a more exact one.

use crate::cli::input::links_in_directories::why_link_of_repository_is_refused;
use crate::cli::input::read_and_find_profiles;
use crate::manifest::{self, DocumentOrError};
use crate::preflight::expectation_document::Expectation;
use crate::profile::{FabricProfile, Profile};
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

/// Longest file (bytes): a Kubernetes object has at most 1.5 MiB (etcd's `--max-request-bytes`).
const MAX_BYTES: u64 = 2 << 20;

/// The expectation as JSON.
pub(super) fn read_profile_and_make_expectation(path: &Path) -> Result<String, String> {
    let file = path.display().to_string();
    let bytes = read(path).map_err(|error| format!("{file}: {error}"))?;
    make_expectation(&file, &bytes).map_err(|error| match linked_elsewhere(path) {
        None => error,
        Some(target) => format!(
            "{file}: the symbolic link leads to {}, which is not a usable FabricProfile; name {} itself to see the error",
            target.display(),
            target.display()
        ),
    })
}

/// Where a link leads, if not to a file below its own directory, as the links of a ConfigMap in a volume do
/// (kubernetes/kubernetes pkg/volume/util/atomic_writer.go). An error must not quote a file that nobody named.
fn linked_elsewhere(path: &Path) -> Option<PathBuf> {
    let target = path.canonicalize().ok()?;
    let directory = path.parent()?.join(".").canonicalize().ok()?;
    Some(target).filter(|target| !target.starts_with(directory))
}

/// The bytes of the file. The rules for links are those of the review.
fn read(path: &Path) -> Result<Vec<u8>, String> {
    if let Some(message) = why_link_of_repository_is_refused(path) {
        return Err(message);
    }
    let about = std::fs::metadata(path).map_err(|error| error.to_string())?;
    if !about.is_file() && !about.is_dir() && path.is_symlink() {
        return Err(
            "the symbolic link does not lead to a regular file; name a file with a FabricProfile".to_owned()
        );
    }
    let mut bytes = Vec::new();
    let read = File::open(path).and_then(|file| file.take(MAX_BYTES + 1).read_to_end(&mut bytes));
    read.map_err(|error| error.to_string())?;
    if bytes.len() as u64 > MAX_BYTES {
        return Err("the file has more than 2 MiB; name a file with one FabricProfile".to_owned());
    }
    Ok(bytes)
}

fn make_expectation(file: &str, bytes: &[u8]) -> Result<String, String> {
    let document = manifest::read_documents_of_file(file, bytes).into_iter().find_map(|item| match item {
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

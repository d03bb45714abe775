//! Checks of `files`, the small files of a profile: their names and sizes.

use crate::profile::profile_error::{Fail, ProfileError};
use crate::profile::schema::{SmallFile, Spec};

/// Most files.
const MAX_FILES: usize = 8;
/// Longest file (bytes).
pub(crate) const MAX_FILE_BYTES: usize = 64 << 10;
/// All of them (bytes). Kubernetes keeps 256 KiB of annotations an object (k8s.io/apimachinery
/// pkg/api/validation/objectmeta.go, TotalAnnotationSizeLimitB), and the pod has some of its own.
const MAX_BYTES_OF_ALL_FILES: usize = 192 << 10;

pub(in crate::profile) fn checked_files(
    spec: &Spec,
    fail: &Fail<'_>,
) -> Result<Vec<SmallFile>, ProfileError> {
    let files = spec.files.as_deref().unwrap_or_default();
    if files.len() > MAX_FILES {
        return Err(fail("/spec/files", format!("expected at most {MAX_FILES} files")));
    }
    for (i, file) in files.iter().enumerate() {
        let at = |field: &str| format!("/spec/files/{i}/{field}");
        if !is_name(&file.name) {
            let message = format!("{:?} is not a file name: at most 58 of a-z, 0-9, '-' and '.'", file.name);
            return Err(fail(&at("name"), message));
        }
        if file.name == "nccl.conf" {
            let message =
                "the lines of nccl.conf come from env; for images with their own file set ncclConf: image";
            return Err(fail(&at("name"), message.into()));
        }
        if files.iter().take(i).any(|other| other.name == file.name) {
            return Err(fail(&at("name"), format!("duplicate {:?}", file.name)));
        }
        if !(1..=MAX_FILE_BYTES).contains(&file.content.len()) {
            return Err(fail(&at("content"), format!("expected 1 to {MAX_FILE_BYTES} bytes")));
        }
    }
    if files.iter().map(|f| f.content.len()).sum::<usize>() > MAX_BYTES_OF_ALL_FILES {
        return Err(fail("/spec/files", format!("expected at most {MAX_BYTES_OF_ALL_FILES} bytes in total")));
    }
    Ok(files.to_vec())
}

/// A file name that is the end of an annotation's key as well.
fn is_name(name: &str) -> bool {
    let end = |c: Option<char>| c.is_some_and(|c| c.is_ascii_lowercase() || c.is_ascii_digit());
    (1..=58).contains(&name.len())
        && end(name.chars().next())
        && end(name.chars().next_back())
        && name.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || matches!(b, b'-' | b'.'))
}

//! Checks of `ncclVersion`, and of `ncclFrom` and `ncclBefore` of a variable.

use crate::nccl::NcclVersion;
use crate::profile::profile_error::{Fail, ProfileError};

/// Checks a version of NCCL.
pub(in crate::profile) fn checked_version(
    text: Option<&String>,
    pointer: &str,
    fail: &Fail<'_>,
) -> Result<Option<NcclVersion>, ProfileError> {
    let Some(text) = text else { return Ok(None) };
    let version = NcclVersion::parse(text).filter(|v| v.0 == 2 && v.1 < 1000 && v.2 < 1000);
    let wrong = || fail(pointer, format!("{text:?} is not a version of NCCL, such as 2.27 or 2.27.5"));
    version.map(Some).ok_or_else(wrong)
}

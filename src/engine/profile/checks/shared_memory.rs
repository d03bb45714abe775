//! Checks of `sharedMemory`, the size of `/dev/shm`.

use crate::pod::Quantity;
use crate::profile::profile_error::{Fail, ProfileError};
use crate::profile::schema::Spec;

/// Sizes of `/dev/shm` where a profile says nothing: 8 GiB an accelerator.
pub(in crate::profile) const DEFAULT_SHM: i64 = 8 << 30;
/// Least size for an accelerator (bytes): two of NCCL's proxy pools.
const MIN_SHM: i64 = 64 << 20;

/// The size for an accelerator (bytes), or its default.
pub(in crate::profile) fn check(spec: &Spec, fail: &Fail<'_>) -> Result<i64, ProfileError> {
    let Some(shm) = &spec.shared_memory else { return Ok(DEFAULT_SHM) };
    match Quantity::parse(&shm.per_accelerator) {
        Ok(q) if q.units() >= MIN_SHM => Ok(q.units()),
        _ => {
            let text = &shm.per_accelerator;
            Err(fail(
                "/spec/sharedMemory/perAccelerator",
                format!("{text:?} is not a size of at least 64Mi, such as 8Gi"),
            ))
        }
    }
}

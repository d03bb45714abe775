//! Checks of `sharedMemory`, the size of `/dev/shm`.

use crate::pod::Quantity;
use crate::profile::profile_error::{Fail, ProfileError};
use crate::profile::schema::Spec;

/// Sizes of `/dev/shm` where a profile says nothing: 8 GiB an accelerator.
pub(in crate::profile) const DEFAULT_SHM_PER_ACCELERATOR: i64 = 8 << 30;
/// Least size for an accelerator (bytes): two of NCCL's proxy pools.
const MIN_SHM_PER_ACCELERATOR: i64 = 64 << 20;

/// The size for an accelerator (bytes), or its default.
pub(in crate::profile) fn checked_size_or_default(spec: &Spec, fail: &Fail<'_>) -> Result<i64, ProfileError> {
    let Some(shm) = &spec.shared_memory else { return Ok(DEFAULT_SHM_PER_ACCELERATOR) };
    match Quantity::parse(&shm.per_accelerator) {
        Ok(q) if q.units_rounded_up() >= MIN_SHM_PER_ACCELERATOR => Ok(q.units_rounded_up()),
        _ => {
            let text = &shm.per_accelerator;
            Err(fail(
                "/spec/sharedMemory/perAccelerator",
                format!("{text:?} is not a size of at least 64Mi, such as 8Gi"),
            ))
        }
    }
}

//! Checks of `memlock` and `ipcLock`: which of the two fields says how memory is pinned.

use crate::profile::memlock_setting::Memlock;
use crate::profile::profile_error::{Fail, ProfileError};
use crate::profile::schema::{Spec, Transport};

/// Refuses a profile that says it twice, by `memlock` and by the shorter `ipcLock`.
pub(in crate::profile) fn refuse_memlock_with_ipc_lock(
    spec: &Spec,
    fail: &Fail<'_>,
) -> Result<(), ProfileError> {
    if spec.memlock.is_some() && spec.ipc_lock.is_some() {
        let message = "memlock and ipcLock exclude each other; remove one".into();
        return Err(fail("/spec/memlock", message));
    }
    Ok(())
}

/// The one field that is inherited where the profile has neither.
pub(in crate::profile) fn nearest_ipc_lock_and_memlock(
    own: &Spec,
    base: &Spec,
) -> (Option<bool>, Option<Memlock>) {
    let nearest = if own.ipc_lock.is_some() || own.memlock.is_some() { own } else { base };
    (nearest.ipc_lock, nearest.memlock)
}

/// What a folded profile says; `None` where its traffic pins nothing.
pub(in crate::profile) fn memlock_or_default_by_transport(
    spec: &Spec,
    transport: Transport,
) -> Option<Memlock> {
    let ipc_lock = spec.ipc_lock.unwrap_or_else(|| transport.is_verbs());
    spec.memlock.or_else(|| ipc_lock.then_some(Memlock::IpcLock))
}

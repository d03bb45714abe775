//! How a fabric's containers may pin memory beyond the memlock limit that the runtime sets.

use super::ProfileError;
use super::resolved::Fail;
use super::schema::{Spec, Transport};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How containers pin memory beyond the runtime's memlock limit: `ipcLock` (the capability is added; root only),
/// `runtime` (the container runtime of the nodes sets no limit, so nothing is added) or `nri` (the NRI plugin
/// ulimit-adjuster runs on the nodes, and an annotation of the pod asks it to lift the limit, for any user).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum Memlock {
    /// The capability `IPC_LOCK` is added, which the kernel heeds for root only.
    IpcLock,
    /// The container runtime of the nodes sets no limit.
    Runtime,
    /// The NRI plugin ulimit-adjuster runs on the nodes, and is asked by annotation.
    Nri,
}

/// Refuses a profile that says it twice, by `memlock` and by the shorter `ipcLock`.
pub(super) fn check(spec: &Spec, fail: &Fail<'_>) -> Result<(), ProfileError> {
    if spec.memlock.is_some() && spec.ipc_lock.is_some() {
        let message = "memlock and ipcLock both say how memory is pinned; keep one".into();
        return Err(fail("/spec/memlock", message));
    }
    Ok(())
}

/// The one field that is inherited where the profile has neither.
pub(super) fn inherit(own: &Spec, base: &Spec) -> (Option<bool>, Option<Memlock>) {
    let nearest = if own.ipc_lock.is_some() || own.memlock.is_some() { own } else { base };
    (nearest.ipc_lock, nearest.memlock)
}

/// What a folded profile says; `None` where its traffic pins nothing.
pub(super) fn of(spec: &Spec, transport: Transport) -> Option<Memlock> {
    let ipc_lock = spec.ipc_lock.unwrap_or_else(|| transport.is_verbs());
    spec.memlock.or_else(|| ipc_lock.then_some(Memlock::IpcLock))
}

//! How a fabric's containers may pin memory beyond the memlock limit that the runtime sets.

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

//! How a fabric's containers may pin memory beyond the memlock limit that the runtime sets.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Way to pin memory beyond the container runtime's memlock limit: `ipcLock` (the capability is added; effective for root
/// only), `runtime` (the container runtime of the nodes sets no limit, so nothing is added) or `nri` (an annotation of the
/// pod makes the NRI plugin ulimit-adjuster on the nodes lift the limit, for any user).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum Memlock {
    /// The capability `IPC_LOCK` is added, which takes effect for root only.
    IpcLock,
    /// The container runtime of the nodes sets no limit.
    Runtime,
    /// The plugin ulimit-adjuster of the Node Resource Interface (NRI) runs on the nodes; an annotation of the pod
    /// controls it.
    Nri,
}

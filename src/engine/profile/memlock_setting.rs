//! How a fabric's containers may pin memory beyond the memlock limit that the runtime sets.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How a pod can pin memory beyond the container runtime's memlock limit. `ipcLock`: the webhook adds the capability
/// `IPC_LOCK`, which has an effect only for root. `runtime`: the container runtime of the nodes sets no limit, so the
/// webhook adds nothing. `nri`: the webhook adds an annotation, and the NRI plugin ulimit-adjuster on the nodes lifts
/// the limit for any user.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum Memlock {
    /// The webhook adds the capability `IPC_LOCK`, which has an effect only for root.
    IpcLock,
    /// The container runtime of the nodes sets no limit.
    Runtime,
    /// The plugin ulimit-adjuster of the Node Resource Interface (NRI) runs on the nodes; an annotation of the pod
    /// controls it.
    Nri,
}

//! GKE's networks: `Network` and `GKENetworkParamSet` of `networking.gke.io/v1`
//! (GoogleCloudPlatform/gke-networking-api apis/network/v1).

use serde_json::Value;

/// A network of a GKE cluster.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct GkeNetwork {
    pub(super) name: String,
    /// Name of its GKENetworkParamSet.
    pub(super) parameters: Option<String>,
    /// Whether its condition `Ready` is not false.
    pub(super) ready: bool,
}

impl GkeNetwork {
    pub(super) fn read(object: &Value) -> Option<Self> {
        let text = |at: &str| object.pointer(at).and_then(Value::as_str).map(str::to_owned);
        let conditions = object.pointer("/status/conditions").and_then(Value::as_array).into_iter().flatten();
        let unready = conditions
            .filter(|condition| condition.get("type").is_some_and(|kind| kind == "Ready"))
            .any(|condition| condition.get("status").is_some_and(|status| status == "False"));
        Some(Self {
            name: text("/metadata/name")?,
            parameters: text("/spec/parametersRef/name"),
            ready: !unready,
        })
    }
}

/// The mode of a network's devices.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum DeviceMode {
    Rdma,
    NetDevice,
    Other,
}

/// Parameters of networks, by name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct GkeParameters {
    pub(super) name: String,
    pub(super) mode: DeviceMode,
}

impl GkeParameters {
    pub(super) fn read(object: &Value) -> Option<Self> {
        let mode = match object.pointer("/spec/deviceMode").and_then(Value::as_str) {
            Some("RDMA") => DeviceMode::Rdma,
            Some("NetDevice") => DeviceMode::NetDevice,
            _ => DeviceMode::Other,
        };
        Some(Self { name: object.pointer("/metadata/name")?.as_str()?.to_owned(), mode })
    }
}

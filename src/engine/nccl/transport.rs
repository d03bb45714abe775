//! Transports of NCCL. The webhook writes the word of a profile into the expectation of preflight, so both have one type.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

// The comments of the enum list the values: the CRD has one text for all values of an enum, and this is it.
/// Transport of NCCL: `roce` (RDMA over Ethernet, v2), `infiniband`, `ethernet` (TCP sockets), `efa` (AWS Elastic
/// Fabric Adapter), `tcpx` or `tcpxo` (GKE GPUDirect).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Transport {
    /// RDMA over Ethernet, v2.
    Roce,
    /// InfiniBand verbs.
    Infiniband,
    /// TCP sockets.
    Ethernet,
    /// AWS Elastic Fabric Adapter.
    Efa,
    /// GKE GPUDirect-TCPX.
    Tcpx,
    /// GKE GPUDirect-TCPXO.
    Tcpxo,
}

impl Transport {
    /// Whether NCCL's own IB transport carries the traffic, so that `NCCL_IB_*` has an effect.
    #[must_use]
    pub fn is_verbs(self) -> bool {
        matches!(self, Self::Roce | Self::Infiniband)
    }

    /// Whether the transport uses RDMA devices.
    #[must_use]
    pub fn is_rdma(self) -> bool {
        self.is_verbs() || self == Self::Efa
    }

    /// Its name in a profile.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Roce => "roce",
            Self::Infiniband => "infiniband",
            Self::Ethernet => "ethernet",
            Self::Efa => "efa",
            Self::Tcpx => "tcpx",
            Self::Tcpxo => "tcpxo",
        }
    }
}

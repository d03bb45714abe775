//! The schema of `facts.json`: what preflight saw, for a later monitor. The monitor is another container: it has other
//! limits, other libraries and another environment, so it cannot read these itself. Both may be of different releases, so
//! the document has a version.

use super::device_of_interface::device_of;
use super::nccl_conf_lines_from_readings::Conf;
use super::preflight_report::Report;
use super::readings::{Device, Port, Readings};
use super::usable_devices::usable_devices_or_outcome;
use crate::rdma::netlink::NamespaceMode;
use crate::rdma::process_limits::Memlock;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The version that this release writes and reads.
pub const VERSION: u32 = 1;

/// The document.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Facts {
    /// Version of the form, see [`VERSION`].
    pub version: u32,
    /// Release of fabric-admission that wrote it.
    pub written_by: String,
    /// Verdict of preflight.
    pub verdict: String,
    /// Profile and fingerprint.
    pub profile: Option<String>,
    /// Transport that the profile expects.
    pub transport: Option<String>,
    /// `shared` or `exclusive`.
    pub rdma_namespaces: Option<String>,
    /// Devices that the pod can use; null if they are unknown.
    pub devices: Option<Vec<DeviceFacts>>,
    /// Limit of locked memory of the training container (bytes); null if there is none, or unknown.
    pub memlock_bytes: Option<u64>,
    /// Whether the training container has effective IPC_LOCK.
    pub ipc_lock: Option<bool>,
    /// Version of NCCL in the image.
    pub nccl: Option<String>,
    /// Lines written to `nccl.conf`.
    pub conf: BTreeMap<String, String>,
    /// Variables of NCCL in the environment.
    pub environment: BTreeMap<String, String>,
}

/// A device.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct DeviceFacts {
    /// Its name.
    pub name: String,
    /// Its driver.
    pub driver: Option<String>,
    /// Its interface in this pod.
    pub interface: Option<String>,
    /// Its ports.
    pub ports: Vec<PortFacts>,
}

/// A port.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct PortFacts {
    /// Its number.
    pub number: u32,
    /// Rate (Gbit/s).
    pub rate: Option<u32>,
    /// Link layer.
    pub link_layer: Option<String>,
}

impl Facts {
    /// The facts of a run.
    #[must_use]
    pub fn facts_from_readings(seen: &Readings, report: &Report, conf: &Conf, release: &str) -> Self {
        let expected = seen.expectation.as_ref().ok().and_then(Option::as_ref);
        Self {
            version: VERSION,
            written_by: release.to_owned(),
            verdict: report.verdict.word().to_owned(),
            profile: report.profile.clone(),
            transport: expected.and_then(|e| e.transport).map(|transport| transport.word().to_owned()),
            rdma_namespaces: seen.namespace_mode.as_ref().ok().map(|mode| {
                match mode {
                    NamespaceMode::Shared => "shared",
                    NamespaceMode::Exclusive => "exclusive",
                }
                .to_owned()
            }),
            devices: usable_devices_or_outcome(seen).ok().map(|own| {
                let interfaces = first_interface_of_each_device(seen);
                own.into_iter().map(|d| device(d, &interfaces)).collect()
            }),
            memlock_bytes: match seen.limits.memlock {
                Ok(Memlock::Bytes(bytes)) => Some(bytes),
                _ => None,
            },
            ipc_lock: seen.limits.ipc_lock.clone().ok(),
            nccl: seen.image.nccl.as_ref().ok().map(|(version, _)| version.to_string()),
            conf: conf.lines.iter().map(|(name, value, _)| (name.clone(), value.clone())).collect(),
            environment: seen.environment.clone().unwrap_or_default(),
        }
    }

    /// Reads a document.
    ///
    /// # Errors
    /// A document that is not JSON, has fields of other types, or another version.
    pub fn parse(text: &str) -> Result<Self, String> {
        let facts: Self =
            serde_json::from_str(text).map_err(|error| format!("cannot be decoded: {error}"))?;
        match facts.version {
            VERSION => Ok(facts),
            other => Err(format!("has version {other}; this release reads version {VERSION}")),
        }
    }

    /// The document as JSON.
    #[must_use]
    pub fn to_text(&self) -> String {
        // A struct of texts and numbers can always be encoded.
        serde_json::to_string_pretty(self).unwrap_or_default() + "\n"
    }
}

/// The name of the first interface of each device, by the name of the device.
fn first_interface_of_each_device(seen: &Readings) -> BTreeMap<&str, &str> {
    let mut first = BTreeMap::new();
    for interface in seen.interfaces.as_deref().unwrap_or_default() {
        if let Some(device) = device_of(seen, interface) {
            first.entry(device.name.as_str()).or_insert(interface.name.as_str());
        }
    }
    first
}

fn device(device: &Device, interfaces: &BTreeMap<&str, &str>) -> DeviceFacts {
    let port = |port: &Port| PortFacts {
        number: port.number,
        rate: port.rate.as_ref().ok().map(|rate| rate.gigabits()),
        link_layer: port.link_layer.as_ref().ok().map(|layer| layer.word().to_owned()),
    };
    DeviceFacts {
        name: device.name.clone(),
        driver: device.driver.clone().ok(),
        interface: interfaces.get(device.name.as_str()).map(|interface| (*interface).to_owned()),
        ports: device.ports.iter().flatten().map(port).collect(),
    }
}

//! How much memory a fact takes, about.

use super::device_claim::{DeviceRequest, RequestedDevices, VfConfigOfClaim};
use super::{DeviceClaim, Fact};
use std::mem::size_of;

/// What an object takes beside its fact and its name: its places among all objects and in two Snapshots, the one in use and the
/// next one.
pub(crate) const BYTES_PER_OBJECT: usize = 384;

/// What the template of a ComputeDomain takes beside its claim and its names.
const BYTES_PER_CHANNEL_TEMPLATE: usize = 128;

/// A network without its texts.
const BYTES_PER_NETWORK: usize = 768;

impl Fact {
    /// Bytes of memory, about, for an object of so many bytes of JSON. The trials `memory::room_of_…` fill a namespace with
    /// objects of each kind, and compare this estimate with what is allocated.
    pub(crate) fn estimated_memory(&self, json: usize) -> usize {
        BYTES_PER_OBJECT
            + match self {
                Self::DeviceClaim(claim) => memory_of_claim(claim),
                // The name is copied into each of the two Snapshots.
                Self::ChannelTemplate(template) => {
                    memory_of_claim(&template.claim) + BYTES_PER_CHANNEL_TEMPLATE + 3 * template.name.len()
                }
                _ => BYTES_PER_NETWORK + json,
            }
    }
}

fn memory_of_claim(claim: &DeviceClaim) -> usize {
    /// A text on the heap takes at least this much.
    const TEXT: usize = 16;
    let ask = |ask: &RequestedDevices| {
        let driver = ask.selected.driver.as_ref().map_or(0, |driver| TEXT + driver.len());
        size_of::<RequestedDevices>() + TEXT + ask.class.len() + driver
    };
    let request = |request: &DeviceRequest| {
        size_of::<DeviceRequest>()
            + TEXT
            + request.name.len()
            + request.options.iter().map(ask).sum::<usize>()
    };
    let function = |function: &VfConfigOfClaim| {
        let texts = function.network.iter().chain(&function.namespace);
        // Networks that claims name are also kept by name.
        size_of::<VfConfigOfClaim>() + 2 * texts.map(|text| TEXT + text.len()).sum::<usize>() + 64
    };
    size_of::<DeviceClaim>()
        + claim.requests.iter().map(request).sum::<usize>()
        + claim.functions.iter().map(function).sum::<usize>()
}

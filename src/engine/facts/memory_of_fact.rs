//! How much memory a fact takes, about.

use super::device_claim::{Ask, DeviceRequest, FunctionConfig};
use super::{DeviceClaim, Fact};
use std::mem::size_of;

/// What an object takes beside its fact and its name: its places among all objects and in two Snapshots, the one in use and the
/// next one.
pub(crate) const OBJECT: usize = 384;

/// What the template of a ComputeDomain takes beside its claim and its names.
const CHANNEL: usize = 128;

/// A network without its texts.
const NETWORK: usize = 768;

impl Fact {
    /// Bytes of memory, about, for an object of so many bytes of JSON. The trials `memory::room_of_…` fill a namespace with
    /// objects of each kind, and compare this estimate with what is allocated.
    pub(crate) fn bytes(&self, json: usize) -> usize {
        OBJECT
            + match self {
                Self::DeviceClaim(claim) => of_claim(claim),
                // The name is copied into each of the two Snapshots.
                Self::ChannelTemplate(template) => {
                    of_claim(&template.claim) + CHANNEL + 3 * template.name.len()
                }
                _ => NETWORK + json,
            }
    }
}

fn of_claim(claim: &DeviceClaim) -> usize {
    /// A text on the heap takes at least this much.
    const TEXT: usize = 16;
    let ask = |ask: &Ask| {
        let driver = ask.selected.driver.as_ref().map_or(0, |driver| TEXT + driver.len());
        size_of::<Ask>() + TEXT + ask.class.len() + driver
    };
    let request = |request: &DeviceRequest| {
        size_of::<DeviceRequest>()
            + TEXT
            + request.name.len()
            + request.options.iter().map(ask).sum::<usize>()
    };
    let function = |function: &FunctionConfig| {
        let texts = function.network.iter().chain(&function.namespace);
        // Networks that claims name are also kept by name.
        size_of::<FunctionConfig>() + 2 * texts.map(|text| TEXT + text.len()).sum::<usize>() + 64
    };
    size_of::<DeviceClaim>()
        + claim.requests.iter().map(request).sum::<usize>()
        + claim.functions.iter().map(function).sum::<usize>()
}

//! The devices that programs of this container can open. In shared RDMA mode sysfs lists all devices of the node, so an entry
//! alone proves nothing.

use super::check_outcome::PreflightCheckOutcome;
use super::readings::{Device, Port, Readings};
use crate::rdma::Reading;

/// Devices that programs of this container can open, in the order of their names; or why they are not known.
pub(super) fn usable_devices_or_outcome(seen: &Readings) -> Result<Vec<&Device>, PreflightCheckOutcome> {
    let devices = value_or_outcome(&seen.devices, "/sys/class/infiniband")?;
    let nodes = value_or_outcome(&seen.nodes, "/sys/class/infiniband_verbs")?;
    let mut names = Vec::new();
    for node in nodes {
        let name =
            value_or_outcome(&node.device, &format!("/sys/class/infiniband_verbs/{}/ibdev", node.name))?;
        if node.opens.is_ok() {
            names.push(name.as_str());
        }
    }
    Ok(devices.iter().filter(|device| names.contains(&device.name.as_str())).collect())
}

/// Every port of the usable devices; at least one.
pub(super) fn ports_of_usable_devices_or_outcome(
    seen: &Readings,
) -> Result<Vec<(&Device, &Port)>, PreflightCheckOutcome> {
    let usable = usable_devices_or_outcome(seen)?;
    if usable.is_empty() {
        return Err(PreflightCheckOutcome::unknown("no usable RDMA device (see PF101)"));
    }
    let mut ports = Vec::new();
    for device in usable {
        let of = value_or_outcome(&device.ports, &format!("ports of {}", device.name))?;
        ports.extend(of.iter().map(|port| (device, port)));
    }
    if ports.is_empty() {
        Err(PreflightCheckOutcome::unknown("no usable RDMA device has a port"))
    } else {
        Ok(ports)
    }
}

/// A value, or the outcome that it is unknown, with place and reason.
pub(super) fn value_or_outcome<'a, T>(
    reading: &'a Reading<T>,
    place: &str,
) -> Result<&'a T, PreflightCheckOutcome> {
    reading.as_ref().map_err(|why| PreflightCheckOutcome::unknown(format!("{place}: {why}")))
}

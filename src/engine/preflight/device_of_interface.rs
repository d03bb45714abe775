//! Which RDMA device an interface belongs to.

use super::readings::{Device, Interface, Readings};

/// `ARPHRD_INFINIBAND` (linux `include/uapi/linux/if_arp.h`).
const INFINIBAND: u64 = 32;

/// The RDMA device of an interface. A PF or VF has it in its folder. A child (macvlan, ipvlan, IPoIB) has no PCI function:
/// a RoCE child is named by a GID row with its address, and an IPoIB child ends its hardware address with the port's GUID.
pub(super) fn device_of<'a>(seen: &'a Readings, interface: &Interface) -> Option<&'a Device> {
    let devices = seen.devices.as_deref().unwrap_or_default();
    let named = interface.devices.as_deref().unwrap_or_default().first();
    if let Some(name) = named {
        return devices.iter().find(|device| device.name == *name);
    }
    if interface.kind == Ok(INFINIBAND) {
        let guid = port_guid(interface)?;
        return devices.iter().find(|device| has_guid(device, &guid));
    }
    devices.iter().find(|device| has_row(seen, device, interface))
}

fn has_row(seen: &Readings, device: &Device, interface: &Interface) -> bool {
    let addresses = seen.addresses.as_deref().unwrap_or_default();
    let mut rows = device.ports.iter().flatten().flat_map(|port| port.gids.iter().flatten());
    rows.any(|row| {
        let gid = row.gid.as_ref().map(|gid| gid.address());
        let own = |a: &crate::rdma::interface_addresses::Address| {
            a.interface == interface.name && gid.as_ref().is_ok_and(|gid| *gid == a.address)
        };
        row.interface.as_deref() == Ok(&*interface.name) && addresses.iter().any(own)
    })
}

/// The port's GUID, with which the hardware address of an interface ends. The address has 20 bytes: flags and queue pair, the
/// subnet prefix, the GUID.
fn port_guid(interface: &Interface) -> Option<Vec<u8>> {
    let text = interface.hardware_address.as_ref().ok()?;
    let bytes: Vec<u8> = text.split(':').filter_map(|byte| u8::from_str_radix(byte, 16).ok()).collect();
    bytes.get(12..20).filter(|_| bytes.len() == 20).map(<[u8]>::to_vec)
}

fn has_guid(device: &Device, guid: &[u8]) -> bool {
    device.ports.iter().flatten().any(|port| {
        let first = port.gids.iter().flatten().find(|row| row.index == 0);
        first.is_some_and(|row| row.gid.as_ref().is_ok_and(|gid| gid.guid() == *guid))
    })
}

//! RDMA devices, their ports and GID rows, from sysfs.

use super::bounded_files::Root;
use crate::preflight::readings::{Device, GidRow, Interface, Port, VerbsNode};
use crate::rdma::port::{LinkLayer, decimal, hexadecimal, link_layer, physical_state, rate, state};
use crate::rdma::why_unreadable::name;
use crate::rdma::{Reading, Unreadable, gid};

const DEVICES: &str = "/sys/class/infiniband";
const VERBS: &str = "/sys/class/infiniband_verbs";
const INTERFACES: &str = "/sys/class/net";
const DEVICE_FILES: &str = "/dev/infiniband";

/// Most ports of a device that are read.
const MAX_PORTS: u32 = 16;
/// Most rows of a GID or P_Key table that are read.
const MAX_ROWS: u32 = 256;
/// Most rows of all GID tables, and of all P_Key tables, that are read: full tables of 64 ports.
const MAX_ROWS_OF_ALL_PORTS: u32 = 64 * MAX_ROWS;

/// Rows that may still be read.
struct RowsLeft {
    gids: u32,
    pkeys: u32,
}

/// Entries of `/sys/class/infiniband_verbs`, and whether their device files can be opened.
pub(super) fn read_verbs_nodes(root: &Root) -> Reading<Vec<VerbsNode>> {
    let names = names_or_none_if_missing(root, VERBS)?;
    let entries = names.into_iter().filter(|name| name.starts_with("uverbs"));
    let node = |name: String| VerbsNode {
        device: root.read_and_parse(&format!("{VERBS}/{name}/ibdev"), self::name),
        opens: root.can_be_opened(&format!("{DEVICE_FILES}/{name}")),
        name,
    };
    Ok(entries.map(node).collect())
}

/// Files `uverbsN` of `/dev/infiniband`.
pub(super) fn device_files(root: &Root) -> Reading<Vec<String>> {
    match root.names_in_directory(DEVICE_FILES) {
        Ok(names) => Ok(names.into_iter().filter(|name| name.starts_with("uverbs")).collect()),
        Err(Unreadable::Missing) => Ok(Vec::new()),
        Err(why) => Err(why),
    }
}

/// Names in a directory of sysfs. Without it the kernel has no such devices, unless sysfs itself is missing.
fn names_or_none_if_missing(root: &Root, path: &str) -> Reading<Vec<String>> {
    match root.names_in_directory(path) {
        Err(Unreadable::Missing) if root.exists(INTERFACES) => Ok(Vec::new()),
        other => other,
    }
}

/// All devices. Tables of rows are read of those devices only whose file can be opened.
pub(super) fn read_devices(root: &Root, nodes: &Reading<Vec<VerbsNode>>) -> Reading<Vec<Device>> {
    let usable = |device: &str| {
        let nodes = nodes.as_deref().unwrap_or_default();
        nodes.iter().any(|node| node.opens.is_ok() && node.device.as_deref() == Ok(device))
    };
    let names = names_or_none_if_missing(root, DEVICES)?;
    let mut left = RowsLeft { gids: MAX_ROWS_OF_ALL_PORTS, pkeys: MAX_ROWS_OF_ALL_PORTS };
    Ok(names.into_iter().map(|name| read_device(root, usable(&name), name, &mut left)).collect())
}

fn read_device(root: &Root, is_usable: bool, name: String, left: &mut RowsLeft) -> Device {
    let path = format!("{DEVICES}/{name}");
    let ports = root.numbers_in_directory(&format!("{path}/ports"), MAX_PORTS).map(|numbers| {
        numbers.into_iter().map(|number| read_port(root, is_usable, (&path, number), left)).collect()
    });
    Device {
        pci_path: root.path_without_links(&format!("{path}/device")),
        driver: root.link_name(&format!("{path}/device/driver")),
        is_virtual: root.exists(&format!("{path}/device/physfn")),
        ports,
        name,
    }
}

fn read_port(root: &Root, is_usable: bool, (device, number): (&str, u32), left: &mut RowsLeft) -> Port {
    let path = format!("{device}/ports/{number}");
    let at = |file: &str| format!("{path}/{file}");
    let layer = root.read_and_parse(&at("link_layer"), link_layer);
    let unused = Unreadable::NotRead("the device cannot be opened");
    Port {
        number,
        state: root.read_and_parse(&at("state"), state),
        physical_state: root.read_and_parse(&at("phys_state"), physical_state),
        rate: root.read_and_parse(&at("rate"), rate),
        lid: root.read_and_parse(&at("lid"), hexadecimal),
        sm_lid: root.read_and_parse(&at("sm_lid"), hexadecimal),
        pkeys: match (is_usable, &layer) {
            (false, _) => Err(unused.clone()),
            (true, Ok(LinkLayer::InfiniBand)) => read_pkeys(root, &path, &mut left.pkeys),
            (true, Ok(_)) => Ok(Vec::new()),
            (true, Err(why)) => Err(why.clone()),
        },
        gids: match (is_usable, &layer) {
            (true, _) => gid_rows(root, &path, MAX_ROWS, &mut left.gids),
            // Row 0 has the GUID, by which an IPoIB child names its device.
            (false, Ok(LinkLayer::InfiniBand)) => gid_rows(root, &path, 1, &mut left.gids),
            (false, _) => Err(unused),
        },
        link_layer: layer,
    }
}

/// P_Keys that are not empty, by row. The directory is missing where the table is empty.
fn read_pkeys(root: &Root, port: &str, left: &mut u32) -> Reading<Vec<(u32, Reading<u16>)>> {
    if *left < MAX_ROWS {
        return Err(Unreadable::NotRead("preflight reads at most 16384 P_Key rows, all of other ports"));
    }
    let mut rows = Vec::new();
    for index in 0..MAX_ROWS {
        match root.read_and_parse(&format!("{port}/pkeys/{index}"), hexadecimal) {
            Err(Unreadable::Missing) => break,
            Ok(0) => {}
            row => rows.push((index, row)),
        }
        *left -= 1;
    }
    Ok(rows)
}

/// Rows of the GID table, up to the last one that is not empty.
fn gid_rows(root: &Root, port: &str, most: u32, left: &mut u32) -> Reading<Vec<GidRow>> {
    // A part of a table would look like a table without this pod's row.
    if *left < most {
        return Err(Unreadable::NotRead("preflight reads at most 16384 GID rows, all of other ports"));
    }
    let mut rows: Vec<GidRow> = Vec::new();
    let mut kept = 0;
    for index in 0..most {
        let value = root.read_and_parse(&format!("{port}/gids/{index}"), gid::gid);
        if value == Err(Unreadable::Missing) {
            break;
        }
        let is_empty = value.as_ref().is_ok_and(|gid| gid.is_empty());
        // The attributes of an empty row are EINVAL, which NCCL meets too.
        let (kind, interface) = if is_empty {
            (Err(Unreadable::Invalid), Err(Unreadable::Invalid))
        } else {
            (
                root.read_and_parse(&format!("{port}/gid_attrs/types/{index}"), gid::gid_type),
                root.read_and_parse(&format!("{port}/gid_attrs/ndevs/{index}"), name),
            )
        };
        rows.push(GidRow { index, gid: value, kind, interface });
        *left -= 1;
        if !is_empty {
            kept = rows.len();
        }
    }
    if rows.is_empty() {
        return Err(Unreadable::Missing);
    }
    rows.truncate(kept);
    Ok(rows)
}

/// Interfaces of the network namespace.
pub(super) fn read_interfaces(root: &Root) -> Reading<Vec<Interface>> {
    let names = root.names_in_directory(INTERFACES)?;
    let text = |content: &[u8]| name(content);
    let interface = |name: String| {
        let at = |file: &str| format!("{INTERFACES}/{name}/{file}");
        Interface {
            kind: root.read_and_parse(&at("type"), decimal),
            mtu: root.read_and_parse(&at("mtu"), decimal),
            operstate: root.read_and_parse(&at("operstate"), text),
            hardware_address: root.read_and_parse(&at("address"), text),
            devices: root.names_in_directory_of_interface(&at("device/infiniband")),
            name,
        }
    };
    // `bonding_masters` is a file among the links.
    Ok(names.into_iter().filter(|name| name != "bonding_masters").map(interface).collect())
}

//! ScrapeReadings of the monitor: a fixed list of files, and answers of the kernel.

use super::bounded_files::{MAX_OTHER_BYTES, MAX_SYSFS_BYTES, Root};
use super::kernel_answers::{Kernel, Recorded, Running};
use crate::monitor::{COUNTERS, Folder, Gids, Interface, Port, ScrapeReadings, SharedMemory};
use crate::rdma::gid::{Gid, gid};
use crate::rdma::net_dev;
use crate::rdma::netlink::NamespaceMode;
use crate::rdma::port::{LinkLayer, decimal, link_layer, physical_state, rate, state};
use crate::rdma::read_counter_file::{Counter, hardware_counter, port_counter};
use crate::rdma::{Reading, Unreadable};
use std::collections::{BTreeMap, BTreeSet};
use std::net::IpAddr;

const DEVICES: &str = "/sys/class/infiniband";
/// Most devices and most ports of a device that are read.
const MOST_DEVICES: usize = 512;
const MOST_PORTS: u32 = 16;
/// Most ports of all devices: in shared mode, a pod sees each virtual function of its node.
const MOST_PORTS_OF_ALL_DEVICES: usize = 1024;
/// Most rows of a GID table.
const MAX_GID_ROWS: u32 = 256;
/// Most rows that one scrape reads. The tables of further ports wait for the next scrapes.
const MOST_GID_ROWS_OF_A_SCRAPE: u32 = 16_384;
/// `ARPHRD_INFINIBAND`, the type of an interface of IP over InfiniBand.
const IPOIB: u64 = 32;

/// Reads what a scrape exports.
#[derive(Debug)]
pub struct Counters {
    root: Root,
    devices: Option<BTreeSet<String>>,
    /// Devices that were there at an earlier scrape, or that preflight saw.
    known: BTreeSet<String>,
    gids: BTreeMap<(String, u32), Gids>,
    scrapes: usize,
    /// The port at which a scrape begins, because an earlier one stopped before it.
    first_port: usize,
}

impl Counters {
    /// A reader of all devices, or of those named, which may be none. In shared mode of RDMA namespaces a pod sees all
    /// devices of its node.
    #[must_use]
    pub fn new(root: Root, devices: Option<BTreeSet<String>>) -> Self {
        let known = devices.clone().unwrap_or_default();
        Self { root, devices, known, gids: BTreeMap::new(), scrapes: 0, first_port: 0 }
    }

    /// Reads everything once.
    pub fn read(&mut self) -> ScrapeReadings {
        let mut readings = ScrapeReadings::default();
        let names =
            value_or_keep_reason(self.root.names_in_directory(DEVICES), DEVICES, &mut readings.unreadable)
                .unwrap_or_default();
        let is_read = |name: &String| self.devices.as_ref().is_none_or(|own| own.contains(name));
        let names: Vec<String> = names.into_iter().filter(is_read).take(MOST_DEVICES).collect();
        let is_gone = |name: &&String| !names.contains(name);
        let gone = self.known.iter().filter(is_gone);
        readings.unreadable.extend(gone.map(|name| (format!("{DEVICES}/{name}"), Unreadable::Missing)));
        self.known.extend(names.iter().take(MOST_DEVICES.saturating_sub(self.known.len())).cloned());
        for device in names {
            let path = format!("{DEVICES}/{device}/ports");
            let ports = self.root.numbers_in_directory(&path, MOST_PORTS);
            let ports = value_or_keep_reason(ports, &path, &mut readings.unreadable);
            let room = MOST_PORTS_OF_ALL_DEVICES.saturating_sub(readings.ports.len());
            let ports = ports.unwrap_or_default();
            if ports.len() > room {
                readings
                    .unreadable
                    .push((path, Unreadable::NotRead("the devices have more than 1024 ports")));
            }
            for number in ports.into_iter().take(room) {
                readings.ports.push(read_port(&self.root, &device, number, &mut readings.unreadable));
            }
        }
        let root = self.root.clone();
        let recorded = Recorded { root: &root, without: Unreadable::Missing };
        let kernel: &dyn Kernel = if root.is_container() { &Running { root: &root } } else { &recorded };
        add_hardware_counters_by_netlink(&root, kernel, &mut readings);
        self.observe_gids(kernel, &mut readings);
        readings.interfaces = read_interfaces(&root, &mut readings.unreadable);
        let shm = value_or_keep_reason(kernel.filesystem("/dev/shm"), "/dev/shm", &mut readings.unreadable);
        readings.shm = shm.map(|shm| SharedMemory { size: shm.size, free: shm.free });
        self.scrapes = self.scrapes.wrapping_add(1);
        readings
    }

    /// Reads the known rows of every port, and the whole table of one port: a table has up to 256 rows, most of them
    /// empty. Ports for which a scrape has no room are read by the next one.
    fn observe_gids(&mut self, kernel: &dyn Kernel, readings: &mut ScrapeReadings) {
        let addresses = match readings.ports.is_empty() {
            true => None,
            false => {
                value_or_keep_reason(kernel.addresses(), "netlink RTM_GETADDR", &mut readings.unreadable)
            }
        };
        let addresses: Option<BTreeSet<IpAddr>> =
            addresses.map(|found| found.into_iter().map(|found| found.address).collect());
        let ScrapeReadings { ports, unreadable, .. } = readings;
        let turn = self.scrapes.checked_rem(ports.len());
        let first = self.first_port.min(ports.len());
        let others = (first..ports.len()).chain(0..first).filter(|at| turn != Some(*at));
        let (mut room, mut first_without_room) = (MOST_GID_ROWS_OF_A_SCRAPE, None);
        for at in turn.into_iter().chain(others) {
            let Some(port) = ports.get_mut(at) else { continue };
            if room < MAX_GID_ROWS {
                first_without_room.get_or_insert(at);
                // The number of an earlier scrape: without it, the next change could not be seen.
                let known = self.gids.get(&(port.device.clone(), port.port));
                port.gid_changes = known.and_then(Gids::changes);
                continue;
            }
            let (rows, changes) = self.read_gids(port, turn == Some(at), addresses.as_ref(), unreadable);
            port.gid_changes = changes;
            room = room.saturating_sub(rows);
        }
        self.first_port = first_without_room.unwrap_or(0);
    }

    /// Reads the known rows of a port or its whole table. How many rows were read, and how often they changed.
    fn read_gids(
        &mut self,
        port: &Port,
        whole: bool,
        addresses: Option<&BTreeSet<IpAddr>>,
        unreadable: &mut Vec<(String, Unreadable)>,
    ) -> (u32, Option<u64>) {
        let path = format!("{DEVICES}/{}/ports/{}", port.device, port.port);
        let file = format!("{path}/link_layer");
        let layer = value_or_keep_reason(self.root.read_and_parse(&file, link_layer), &file, unreadable);
        // On Ethernet a GID is an address. Without the addresses of the pod, its rows are not known.
        let by_address = match (layer, addresses) {
            (Some(LinkLayer::Ethernet), Some(own)) => Some(own),
            (Some(LinkLayer::Ethernet), None) | (None, _) => return (0, None),
            (Some(_), _) => None,
        };
        let mut rows_read = 0;
        let row = |row: u32| {
            rows_read += 1;
            let file = format!("{path}/gids/{row}");
            let value = self.root.read_and_parse(&file, gid);
            if let Err(why) = &value
                && !matches!(why, Unreadable::Missing | Unreadable::Invalid | Unreadable::Unsupported)
            {
                unreadable.push((file, why.clone()));
            }
            (row, value)
        };
        let gids = self.gids.entry((port.device.clone(), port.port)).or_default();
        let known = gids.row_numbers_to_read_again().filter(|_| !whole);
        let is_own = |gid: Gid| !gid.is_empty() && by_address.is_none_or(|own| own.contains(&gid.address()));
        match known {
            Some(rows) => gids.update_known_rows(rows.into_iter().map(row), is_own),
            None => {
                let missing = |(_, gid): &(u32, Reading<Gid>)| *gid == Err(Unreadable::Missing);
                let table: Vec<_> = (0..MAX_GID_ROWS).map(row).take_while(|row| !missing(row)).collect();
                if table.is_empty() {
                    return (rows_read, None);
                }
                gids.replace_table(table, is_own);
            }
        }
        (rows_read, gids.changes())
    }
}

fn read_port(root: &Root, device: &str, number: u32, unreadable: &mut Vec<(String, Unreadable)>) -> Port {
    let path = format!("{DEVICES}/{device}/ports/{number}");
    let mut port = Port { device: device.to_owned(), port: number, ..Port::default() };
    let mut file = Files { root, unreadable };
    port.state = file.read_value(format!("{path}/state"), state).map(|state| state as u32);
    port.physical_state =
        file.read_value(format!("{path}/phys_state"), physical_state).map(|state| state.number);
    port.gigabits = file.read_value(format!("{path}/rate"), rate).map(|rate| rate.gigabits());
    for folder in [Folder::Port, Folder::Hardware] {
        let below = format!("{path}/{}", folder.name());
        if !root.exists(&below) {
            continue;
        }
        for (at, counter) in COUNTERS.iter().enumerate().filter(|(_, counter)| counter.folder == folder) {
            let value = file.read_value(format!("{below}/{}", counter.file), |content| match folder {
                Folder::Port => port_counter(counter.file, content),
                Folder::Hardware => hardware_counter(content).map(Counter::Value),
            });
            port.counters.extend(value.map(|value| (at, value)));
        }
    }
    port
}

/// In shared mode the files of `hw_counters` are missing, and the kernel gives the same values by netlink.
fn add_hardware_counters_by_netlink(root: &Root, kernel: &dyn Kernel, readings: &mut ScrapeReadings) {
    let folder = Folder::Hardware.name();
    let is_missing =
        |port: &Port| !root.exists(&format!("{DEVICES}/{}/ports/{}/{folder}", port.device, port.port));
    let wanted: BTreeSet<(String, u32)> = readings
        .ports
        .iter()
        .filter(|port| is_missing(port))
        .map(|port| (port.device.clone(), port.port))
        .collect();
    if wanted.is_empty() {
        return;
    }
    let mode = value_or_keep_reason(
        kernel.namespace_mode(),
        "netlink RDMA_NLDEV_CMD_SYS_GET",
        &mut readings.unreadable,
    );
    if mode != Some(NamespaceMode::Shared) {
        return;
    }
    let asked: Vec<(&str, u32)> = wanted.iter().map(|(device, port)| (device.as_str(), *port)).collect();
    let ScrapeReadings { ports, unreadable, .. } = readings;
    let question = "netlink RDMA_NLDEV_CMD_STAT_GET";
    let Some(mut found) = value_or_keep_reason(kernel.hardware_counters(&asked), question, unreadable) else {
        return;
    };
    for port in ports {
        let answer = match found.remove(&(port.device.clone(), port.port)) {
            // The kernel's answer about a driver without counters.
            None | Some(Err(Unreadable::Invalid)) => continue,
            Some(answer) => answer,
        };
        let question = format!("{question}, device {}, port {}", port.device, port.port);
        for (name, value) in value_or_keep_reason(answer, &question, unreadable).iter().flatten() {
            let of_name = |counter: &&crate::monitor::PortCounter| {
                counter.folder == Folder::Hardware && counter.file == name
            };
            let place = COUNTERS.iter().position(|counter| of_name(&counter));
            port.counters.extend(place.map(|at| (at, Counter::Value(*value))));
        }
    }
}

/// Interfaces of the network namespace with their bytes.
fn read_interfaces(root: &Root, unreadable: &mut Vec<(String, Unreadable)>) -> Vec<Interface> {
    let content = root
        .read_at_most("/proc/net/dev", MAX_OTHER_BYTES)
        .and_then(|content| net_dev::parse_interface_bytes(&content));
    match content {
        Ok(found) => {
            let interface = |bytes: net_dev::InterfaceBytes| {
                let path = format!("/sys/class/net/{}/type", bytes.interface);
                let is_ipoib = value_or_keep_reason(root.read_and_parse(&path, decimal), &path, unreadable)
                    == Some(IPOIB);
                Interface { bytes, is_ipoib }
            };
            found.into_iter().map(interface).collect()
        }
        Err(Unreadable::Missing) => Vec::new(),
        Err(why) => {
            unreadable.push(("/proc/net/dev".to_owned(), why));
            Vec::new()
        }
    }
}

/// Files, and those that could not be read.
struct Files<'f> {
    root: &'f Root,
    unreadable: &'f mut Vec<(String, Unreadable)>,
}

impl Files<'_> {
    /// A value. A file that does not exist is the usual case in shared mode, and a driver may lack support.
    fn read_value<T>(&mut self, path: String, parse: impl FnOnce(&[u8]) -> Reading<T>) -> Option<T> {
        value_or_keep_reason(
            self.root.read_at_most(&path, MAX_SYSFS_BYTES).and_then(|content| parse(&content)),
            &path,
            self.unreadable,
        )
    }
}

/// The value. A reason why there is none is kept, unless the thing does not exist or the driver lacks support.
fn value_or_keep_reason<T>(
    reading: Reading<T>,
    place: &str,
    unreadable: &mut Vec<(String, Unreadable)>,
) -> Option<T> {
    match reading {
        Ok(value) => Some(value),
        Err(Unreadable::Missing | Unreadable::Unsupported) => None,
        Err(why) => {
            unreadable.push((place.to_owned(), why));
            None
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::kernel_answers::HardwareCounters;
    use super::*;
    use crate::preflight::readings::Filesystem;
    use crate::rdma::interface_addresses::Address;
    use std::path::Path;

    /// A kernel in shared mode that answers for one of three ports.
    struct OnePort;

    impl Kernel for OnePort {
        fn filesystem(&self, _: &str) -> Reading<Filesystem> {
            Err(Unreadable::Missing)
        }

        fn addresses(&self) -> Reading<Vec<Address>> {
            Err(Unreadable::Missing)
        }

        fn namespace_mode(&self) -> Reading<NamespaceMode> {
            Ok(NamespaceMode::Shared)
        }

        fn hardware_counters(&self, ports: &[(&str, u32)]) -> Reading<HardwareCounters> {
            let answer = |port| match port {
                1 => Ok(vec![("np_cnp_sent".to_owned(), 7)]),
                2 => Err(Unreadable::Denied),
                _ => Err(Unreadable::Invalid),
            };
            Ok(ports.iter().map(|(device, port)| (((*device).to_owned(), *port), answer(*port))).collect())
        }

        fn environment(&self) -> Reading<BTreeMap<String, String>> {
            Ok(BTreeMap::new())
        }
    }

    #[test]
    fn a_port_without_an_answer_is_counted() {
        let port = |port| Port { device: "mlx5_0".to_owned(), port, ..Port::default() };
        let mut readings =
            ScrapeReadings { ports: vec![port(1), port(2), port(3)], ..ScrapeReadings::default() };
        add_hardware_counters_by_netlink(&Root::new(Path::new("/nowhere")), &OnePort, &mut readings);
        assert_eq!(readings.ports.iter().map(|port| port.counters.len()).collect::<Vec<_>>(), [1, 0, 0]);
        let place = "netlink RDMA_NLDEV_CMD_STAT_GET, device mlx5_0, port 2".to_owned();
        assert_eq!(readings.unreadable, [(place, Unreadable::Denied)]);
    }

    /// All tables are full, so one scrape has no room for them.
    #[test]
    fn each_table_is_read_by_some_scrape() {
        let root = std::env::temp_dir().join(format!("fabric-gids-{}", std::process::id()));
        let gids = root.join("port/gids");
        std::fs::create_dir_all(&gids).unwrap();
        std::fs::write(root.join("port/link_layer"), "InfiniBand\n").unwrap();
        let gid = |row: u32, last: u32| {
            let text = format!("fe80:0000:0000:0000:0000:0000:{last:04x}:{:04x}\n", row + 1);
            std::fs::write(gids.join(row.to_string()), text).unwrap();
        };
        (0..MAX_GID_ROWS).for_each(|row| gid(row, 0));
        // Each scrape has room for 64 of these ports.
        for device in 0..10 {
            let ports = root.join(format!("{}/mlx5_{device}/ports", DEVICES.trim_start_matches('/')));
            std::fs::create_dir_all(&ports).unwrap();
            (1..=16).for_each(|port| {
                std::os::unix::fs::symlink("../../../../../port", ports.join(port.to_string())).unwrap()
            });
        }
        let mut counters = Counters::new(Root::new(&root), None);
        let mut scrape = || {
            let ports = counters.read().ports.into_iter();
            ports.map(|port| port.gid_changes).collect::<Vec<_>>()
        };
        let number_of_known = |found: Vec<Option<u64>>| found.iter().flatten().count();
        assert_eq!([(); 3].map(|()| number_of_known(scrape())), [64, 127, 160]);
        gid(7, 1);
        for _ in 0..3 {
            // A table that waits keeps its number.
            assert_eq!(number_of_known(scrape()), 160);
        }
        assert_eq!(scrape(), vec![Some(1); 160]);
        std::fs::remove_dir_all(&root).unwrap();
    }
}

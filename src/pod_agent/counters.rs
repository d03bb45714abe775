//! Counters of all ports, for the monitor: a fixed list of files.

use super::files::{Root, SYSFS};
use super::kernel::{Kernel, Recorded, Running};
use crate::monitor::{COUNTERS, Folder, Port, Readings, SharedMemory};
use crate::rdma::counter::{Counter, hardware_counter, port_counter};
use crate::rdma::port::{physical_state, rate, state};
use crate::rdma::{Reading, Unreadable};

const DEVICES: &str = "/sys/class/infiniband";
/// Most devices and most ports of a device that are read.
const MOST_DEVICES: usize = 512;
const MOST_PORTS: usize = 16;

/// Reads what one scrape exports.
#[must_use]
pub fn counters(root: &Root) -> Readings {
    let mut readings = Readings::default();
    let devices = root.names(DEVICES).unwrap_or_default();
    for device in devices.into_iter().take(MOST_DEVICES) {
        let ports = root.names(&format!("{DEVICES}/{device}/ports")).unwrap_or_default();
        let numbers = ports.iter().filter_map(|name| name.parse().ok()).take(MOST_PORTS);
        for number in numbers {
            let port = port(root, &device, number, &mut readings.unreadable);
            readings.ports.push(port);
        }
    }
    let kernel: &dyn Kernel = if root.is_container() { &Running { root } } else { &Recorded { root } };
    readings.shm =
        kernel.filesystem("/dev/shm").ok().map(|shm| SharedMemory { size: shm.size, free: shm.free });
    readings
}

fn port(root: &Root, device: &str, number: u32, unreadable: &mut u64) -> Port {
    let path = format!("{DEVICES}/{device}/ports/{number}");
    // A file that does not exist is the usual case in shared mode; a driver without support says so.
    let mut known = |missing: &Unreadable| {
        *unreadable += u64::from(!matches!(missing, Unreadable::Missing | Unreadable::Unsupported));
    };
    let mut port = Port { device: device.to_owned(), port: number, ..Port::default() };
    port.state = kept(root.value(&format!("{path}/state"), state), &mut known).map(|state| state as u32);
    port.physical_state =
        kept(root.value(&format!("{path}/phys_state"), physical_state), &mut known).map(|state| state.number);
    port.gigabits = kept(root.value(&format!("{path}/rate"), rate), &mut known).map(|rate| rate.gigabits());
    for folder in [Folder::Port, Folder::Hardware] {
        let below = format!("{path}/{}", folder.name());
        if !root.exists(&below) {
            continue;
        }
        for (at, counter) in COUNTERS.iter().enumerate().filter(|(_, counter)| counter.folder == folder) {
            let content = root.read(&format!("{below}/{}", counter.file), SYSFS);
            let value = content.and_then(|content| match folder {
                Folder::Port => port_counter(counter.file, &content),
                Folder::Hardware => hardware_counter(&content).map(Counter::Value),
            });
            port.counters.extend(kept(value, &mut known).map(|value| (at, value)));
        }
    }
    port
}

fn kept<T>(reading: Reading<T>, missing: &mut impl FnMut(&Unreadable)) -> Option<T> {
    reading.inspect_err(missing).ok()
}

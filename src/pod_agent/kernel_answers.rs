//! Answers of the kernel that are not files: file systems and netlink. In a recorded tree they are files of the folder
//! `.preflight`, so that a tree holds all that a run needs.

use super::bounded_files::{MAX_OTHER_BYTES, Root, errno};
use super::netlink_socket::NetlinkSocket;
use crate::preflight::readings::Filesystem;
use crate::rdma::interface_addresses::{self, Address};
use crate::rdma::netlink::{self, NamespaceMode};
use crate::rdma::{Reading, Unreadable, netlink_counters};
use rustix::net::netlink::RDMA;
use std::collections::BTreeMap;

/// What is asked of the kernel.
pub(super) trait Kernel {
    /// The file system at a path.
    fn filesystem(&self, path: &str) -> Reading<Filesystem>;
    /// Addresses of the interfaces.
    fn addresses(&self) -> Reading<Vec<Address>>;
    /// Mode of RDMA namespaces.
    fn namespace_mode(&self) -> Reading<NamespaceMode>;
    /// Counters of ports by netlink.
    fn hardware_counters(&self, ports: &[(&str, u32)]) -> Reading<HardwareCounters>;
    /// Environment variables.
    fn environment(&self) -> Reading<BTreeMap<String, String>>;
}

/// The kernel of this container.
pub(super) struct Running<'a> {
    pub(super) root: &'a Root,
}

/// Why preflight knows nothing about a reading that a recorded tree does not have.
pub(super) const NOT_RECORDED: Unreadable = Unreadable::NotRead("the recorded tree does not have this file");

/// A recorded tree.
pub(super) struct Recorded<'a> {
    pub(super) root: &'a Root,
    /// The reason for a reading that the tree does not have.
    pub(super) without: Unreadable,
}

impl Kernel for Running<'_> {
    fn filesystem(&self, path: &str) -> Reading<Filesystem> {
        let stat = rustix::fs::statfs(self.root.path_under_root(path)).map_err(errno)?;
        let block = u64::try_from(stat.f_bsize).unwrap_or(0);
        Ok(Filesystem {
            // A word or an unsigned word, by architecture.
            #[allow(clippy::unnecessary_cast)]
            kind: stat.f_type as i64,
            size: stat.f_blocks.saturating_mul(block),
            free: stat.f_bavail.saturating_mul(block),
        })
    }

    fn addresses(&self) -> Reading<Vec<Address>> {
        let mut found = Vec::new();
        NetlinkSocket::open(None)?.send_and_read_parts(&netlink::addresses_request(), |answer| {
            let (some, last) = netlink::parse_addresses(answer)?;
            found.extend(some);
            Ok(last)
        })?;
        let names = self.root.names_in_directory("/sys/class/net")?;
        let index = |name: String| {
            let path = format!("/sys/class/net/{name}/ifindex");
            let number = self.root.read_and_parse(&path, crate::rdma::port::decimal).ok()?;
            Some((u32::try_from(number).ok()?, name))
        };
        let names: Vec<(u32, String)> = names.into_iter().filter_map(index).collect();
        Ok(netlink::with_interface_names(found, &names))
    }

    fn namespace_mode(&self) -> Reading<NamespaceMode> {
        let mut found = Err(Unreadable::NotRead("the kernel did not answer"));
        NetlinkSocket::open(Some(RDMA))?.send_and_read_parts(&netlink::mode_request(), |answer| {
            found = netlink::parse_namespace_mode(answer);
            Ok(true)
        })?;
        found
    }

    fn hardware_counters(&self, ports: &[(&str, u32)]) -> Reading<HardwareCounters> {
        let mut socket = NetlinkSocket::open(Some(RDMA))?;
        let mut devices = BTreeMap::new();
        socket.send_and_read_parts(&netlink_counters::devices_request(), |answer| {
            let (some, last) = netlink_counters::parse_devices(answer)?;
            devices.extend(some.into_iter().map(|(index, name)| (name, index)));
            Ok(last)
        })?;
        let mut found = HardwareCounters::new();
        for (device, port) in ports {
            let Some(index) = devices.get(*device) else { continue };
            let mut counters = Vec::new();
            let asked =
                socket.send_and_read_parts(&netlink_counters::counters_request(*index, *port), |answer| {
                    counters = netlink_counters::parse_counters(answer)?;
                    Ok(true)
                });
            found.insert(((*device).to_owned(), *port), asked.map(|()| counters));
        }
        Ok(found)
    }

    fn environment(&self) -> Reading<BTreeMap<String, String>> {
        let text = |name: std::ffi::OsString| name.into_string().ok();
        Ok(std::env::vars_os().filter_map(|(name, value)| Some((text(name)?, text(value)?))).collect())
    }
}

/// Counters by device and port, with their names; or why a port has none.
pub(super) type HardwareCounters = BTreeMap<(String, u32), Reading<Vec<(String, u64)>>>;

impl Recorded<'_> {
    fn file(&self, name: &str) -> Reading<Vec<u8>> {
        self.root.read_at_most(&format!("/.preflight/{name}"), MAX_OTHER_BYTES).map_err(|why| match why {
            Unreadable::Missing => self.without.clone(),
            other => other,
        })
    }
}

impl Kernel for Recorded<'_> {
    /// A line for each path: kind in hexadecimal, size and free bytes.
    fn filesystem(&self, path: &str) -> Reading<Filesystem> {
        let content = self.file("filesystems")?;
        let text = std::str::from_utf8(&content).map_err(|_| Unreadable::unexpected_form(&content))?;
        let line = text.lines().find_map(|line| line.strip_prefix(path)?.strip_prefix(' '));
        let line = line.ok_or(Unreadable::Missing)?;
        let words: Vec<&str> = line.split(' ').collect();
        let parsed = match words.as_slice() {
            [kind, size, free] => i64::from_str_radix(kind.trim_start_matches("0x"), 16)
                .ok()
                .zip(size.parse().ok().zip(free.parse().ok()))
                .map(|(kind, (size, free))| Filesystem { kind, size, free }),
            _ => None,
        };
        parsed.ok_or_else(|| Unreadable::unexpected_form(line.as_bytes()))
    }

    fn addresses(&self) -> Reading<Vec<Address>> {
        interface_addresses::parse_recorded_addresses(&self.file("addresses")?)
    }

    fn namespace_mode(&self) -> Reading<NamespaceMode> {
        let content = self.file("rdma-namespaces")?;
        match content.trim_ascii() {
            b"shared" => Ok(NamespaceMode::Shared),
            b"exclusive" => Ok(NamespaceMode::Exclusive),
            other => Err(Unreadable::unexpected_form(other)),
        }
    }

    fn hardware_counters(&self, ports: &[(&str, u32)]) -> Reading<HardwareCounters> {
        let mut found = HardwareCounters::new();
        for (device, port, name, value) in
            netlink_counters::parse_recorded_counters(&self.file("rdma-counters")?)?
        {
            if ports.contains(&(device.as_str(), port)) {
                let counters = found.entry((device, port)).or_insert_with(|| Ok(Vec::new()));
                counters.iter_mut().for_each(|counters| counters.push((name.clone(), value)));
            }
        }
        Ok(found)
    }

    fn environment(&self) -> Reading<BTreeMap<String, String>> {
        let content = self.file("environment")?;
        let text = String::from_utf8_lossy(&content);
        let lines = text.lines().filter_map(|line| line.split_once('='));
        Ok(lines.map(|(name, value)| (name.to_owned(), value.to_owned())).collect())
    }
}

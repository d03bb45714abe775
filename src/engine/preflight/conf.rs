//! The lines of `nccl.conf`: what the profile sets, and this pod's facts for the version of NCCL in the image.
//!
//! A variable of the environment always wins over the file (NVIDIA/nccl src/misc/param.cc), so a line for it would only
//! mislead.

use super::expect::{Expectation, Transport};
use super::gid_rows::own_rows;
use super::seen::{Device, Port, Seen};
use super::usable::ports;
use crate::nccl::NcclVersion;
use crate::rdma::gid::GidType;
use crate::rdma::port::{LinkLayer, State};
use core::net::IpAddr;
use std::collections::BTreeSet;

/// Longest value that NCCL reads from the file (bytes).
const VALUE: usize = 1023;
/// From this version on, NCCL chooses the GID row itself, also where the table has empty rows.
pub(super) const CHOOSES_ROWS: NcclVersion = NcclVersion(2, 26, 2);
/// From this version on, NCCL chooses the row, but stops at an empty one (NVIDIA/nccl#1573).
pub(super) const CHOOSES_ROWS_WITHOUT_GAPS: NcclVersion = NcclVersion(2, 21, 0);

/// What is written to `nccl.conf`, and why.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Conf {
    /// Lines: name, value, reason.
    pub lines: Vec<(String, String, String)>,
    /// Variables that are not written, with the reason.
    pub left_out: Vec<(String, String)>,
}

impl Conf {
    /// The lines for a pod.
    #[must_use]
    pub fn of(seen: &Seen) -> Self {
        let nothing = Expectation::default();
        let expected = seen.expectation.as_ref().ok().and_then(Option::as_ref).unwrap_or(&nothing);
        let mut conf = Self::default();
        for line in &expected.conf {
            match line.split_once('=') {
                Some((name, value)) => conf.add(seen, name, value, "the profile sets it"),
                None => conf.left_out.push((line.clone(), "is not NAME=value".to_owned())),
            }
        }
        match expected.transport {
            Some(Transport::Roce) => {
                conf.devices(seen, LinkLayer::Ethernet);
                conf.gid(seen);
            }
            Some(Transport::Infiniband) => conf.devices(seen, LinkLayer::InfiniBand),
            _ => {}
        }
        conf
    }

    /// The file.
    #[must_use]
    pub fn text(&self, profile: Option<&str>) -> String {
        let profile = profile.map(|name| format!(", profile {name}")).unwrap_or_default();
        let mut text = format!("# Written by fabric-admission preflight{profile}\n");
        for (name, value, _) in &self.lines {
            text.push_str(&format!("{name}={value}\n"));
        }
        text
    }

    /// The value of a line.
    pub(super) fn value(&self, name: &str) -> Option<&str> {
        self.lines.iter().find(|(known, ..)| known == name).map(|(_, value, _)| value.as_str())
    }

    fn add(&mut self, seen: &Seen, name: &str, value: &str, why: &str) {
        let plain = |text: &str| !text.is_empty() && !text.contains(['\n', '\r', '\0']);
        let left_out = if seen.environment.contains_key(name) {
            "the environment sets it"
        } else if self.value(name).is_some() {
            "the profile sets it"
        } else if !plain(name) || !plain(value) || value.len() > VALUE {
            "NCCL cannot read such a line"
        } else {
            self.lines.push((name.to_owned(), value.to_owned(), why.to_owned()));
            return;
        };
        self.left_out.push((name.to_owned(), left_out.to_owned()));
    }

    fn devices(&mut self, seen: &Seen, layer: LinkLayer) {
        let Ok(ports) = ports(seen) else { return };
        let fits = |port: &Port| port.link_layer == Ok(layer) && port.state == Ok(State::Active);
        let names: Vec<String> = ports
            .iter()
            .filter(|(_, port)| fits(port))
            .map(|(device, port)| format!("{}:{}", device.name, port.number))
            .collect();
        if !names.is_empty() {
            let value = format!("={}", names.join(","));
            self.add(seen, "NCCL_IB_HCA", &value, "the active ports that this pod can use");
        }
    }

    fn gid(&mut self, seen: &Seen) {
        const INDEX: &str = "NCCL_IB_GID_INDEX";
        const FAMILY: &str = "NCCL_IB_ADDR_FAMILY";
        let (Ok(ports), Ok(addresses)) = (ports(seen), &seen.addresses) else { return };
        let roce: Vec<&(&Device, &Port)> =
            ports.iter().filter(|(_, port)| port.link_layer == Ok(LinkLayer::Ethernet)).collect();
        let usable: Vec<Vec<(u32, IpAddr)>> =
            roce.iter().map(|(_, port)| own_rows(port, addresses, GidType::V2)).collect();
        if usable.is_empty() || usable.iter().any(Vec::is_empty) {
            return;
        }
        let version = seen.image.nccl.as_ref().ok().map(|(version, _)| *version);
        let v4_everywhere = usable.iter().all(|rows| rows.iter().any(|(_, address)| address.is_ipv4()));
        if !v4_everywhere && version.is_none_or(|version| version >= CHOOSES_ROWS_WITHOUT_GAPS) {
            self.add(seen, FAMILY, "AF_INET6", "a port has no IPv4 GID, and NCCL looks for IPv4 by default");
        }
        if version.is_some_and(|version| version >= CHOOSES_ROWS) {
            self.left_out.push((INDEX.to_owned(), "this version of NCCL chooses the row itself".to_owned()));
            return;
        }
        let rows = |of: &Vec<(u32, IpAddr)>| -> BTreeSet<u32> {
            of.iter().filter(|(_, a)| !v4_everywhere || a.is_ipv4()).map(|(index, _)| *index).collect()
        };
        let common = usable.iter().map(rows).reduce(|all, one| &all & &one).unwrap_or_default();
        match common.first() {
            Some(index) => {
                let why = match version {
                    Some(version) => format!("NCCL {version} does not find the row itself in every pod"),
                    None => "the version of NCCL is not known, and older ones do not find the row".to_owned(),
                };
                self.add(seen, INDEX, &index.to_string(), &why);
            }
            None => self.left_out.push((
                INDEX.to_owned(),
                "no row is right on all devices, and the variable holds for all of them".to_owned(),
            )),
        }
    }
}

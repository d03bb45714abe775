//! The lines of `nccl.conf`: what the profile sets, and this pod's facts for the version of NCCL in the image.
//!
//! A variable of the environment always wins over the file (NVIDIA/nccl src/misc/param.cc), so a line for it would only
//! mislead.

use super::expectation_document::{Expectation, Transport};
use super::gid_choice::{FAMILY, RANGE, VERSION, Wanted, row_nccl_chooses};
use super::gid_rows::own_rows;
use super::readings::{Port, Readings, USER_CONF};
use super::usable_devices::ports_of_usable_devices_or_outcome;
use crate::nccl::NcclVersion;
use crate::rdma::gid::{Gid, GidType};
use crate::rdma::port::{LinkLayer, State};
use std::collections::BTreeSet;

/// Longest value that NCCL reads from the file (bytes).
const MAX_VALUE_BYTES: usize = 1023;
/// From this version on, NCCL chooses the GID row itself, also where the table has empty rows.
pub(super) const CHOOSES_ROWS_PAST_GAPS_SINCE: NcclVersion = NcclVersion(2, 26, 2);
/// From this version on, NCCL chooses the row, but stops at an empty one (NVIDIA/nccl#1573).
pub(super) const CHOOSES_ROWS_UP_TO_GAP_SINCE: NcclVersion = NcclVersion(2, 21, 0);

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
    pub fn lines_from_readings(seen: &Readings) -> Self {
        let nothing = Expectation::default();
        let expected = seen.expectation.as_ref().ok().and_then(Option::as_ref).unwrap_or(&nothing);
        let mut conf = Self::default();
        for line in &expected.conf {
            match line.split_once('=') {
                Some((name, value)) => conf.add_line_unless_set(seen, name, value, "the profile sets it"),
                None => conf.left_out.push((line.clone(), "is not NAME=value".to_owned())),
            }
        }
        match expected.transport {
            Some(Transport::Roce) => {
                conf.add_hca_line(seen, LinkLayer::Ethernet);
                conf.add_gid_lines(seen);
            }
            Some(Transport::Infiniband) => conf.add_hca_line(seen, LinkLayer::InfiniBand),
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

    fn add_line_unless_set(&mut self, seen: &Readings, name: &str, value: &str, why: &str) {
        let plain = |text: &str| !text.is_empty() && !text.contains(['\n', '\r', '\0']);
        let left_out = if let Some((_, place)) = seen.set_by_user(name) {
            if place == USER_CONF { "the user's file sets it" } else { "the environment sets it" }
        } else if self.value(name).is_some() {
            "the profile sets it"
        } else if !plain(name) || !plain(value) || value.len() > MAX_VALUE_BYTES {
            "NCCL cannot read a line with this name and value"
        } else {
            self.lines.push((name.to_owned(), value.to_owned(), why.to_owned()));
            return;
        };
        self.left_out.push((name.to_owned(), left_out.to_owned()));
    }

    fn add_hca_line(&mut self, seen: &Readings, layer: LinkLayer) {
        let Ok(ports) = ports_of_usable_devices_or_outcome(seen) else { return };
        let fits = |port: &Port| port.link_layer == Ok(layer) && port.state == Ok(State::Active);
        let names: Vec<String> = ports
            .iter()
            .filter(|(_, port)| fits(port))
            .map(|(device, port)| format!("{}:{}", device.name, port.number))
            .collect();
        if !names.is_empty() {
            let value = format!("={}", names.join(","));
            self.add_line_unless_set(seen, "NCCL_IB_HCA", &value, "the active ports that this pod can use");
        }
    }

    fn add_gid_lines(&mut self, seen: &Readings) {
        const INDEX: &str = "NCCL_IB_GID_INDEX";
        let (Ok(ports), Ok(addresses)) = (ports_of_usable_devices_or_outcome(seen), &seen.addresses) else {
            return;
        };
        let roce = ports.iter().filter(|(_, port)| port.link_layer == Ok(LinkLayer::Ethernet));
        let roce: Vec<&Port> = roce.map(|(_, port)| *port).collect();
        let v2 = |port: &Port| -> Vec<(u32, Gid)> {
            let own = own_rows(port, addresses).filter(|(.., kind)| *kind == GidType::V2);
            own.map(|(index, gid, _)| (index, gid)).collect()
        };
        let own: Vec<Vec<(u32, Gid)>> = roce.iter().map(|port| v2(port)).collect();
        if own.is_empty() || own.iter().any(Vec::is_empty) {
            return;
        }
        let version = seen.image.nccl.as_ref().ok().map(|(version, _)| *version);
        let chooses = version.is_none_or(|version| version >= CHOOSES_ROWS_UP_TO_GAP_SINCE);
        let ipv4 = |rows: &Vec<(u32, Gid)>| rows.iter().any(|(_, gid)| gid.address().is_ipv4());
        if chooses && !own.iter().all(ipv4) {
            self.add_line_unless_set(
                seen,
                FAMILY,
                "AF_INET6",
                "a port has no IPv4 GID, and NCCL looks for IPv4 by default",
            );
        }
        // An index switches the other three variables off, so it must be a row that they allow.
        let wanted = self.wanted_lines(seen);
        let is_own = |port: &&Port, rows: &Vec<(u32, Gid)>| {
            let row = row_nccl_chooses(port.gids.as_deref().unwrap_or_default(), &wanted);
            rows.iter().any(|(index, _)| row.as_ref() == Ok(index))
        };
        if version.is_some_and(|version| version >= CHOOSES_ROWS_PAST_GAPS_SINCE)
            && roce.iter().zip(&own).all(|(port, rows)| is_own(port, rows))
        {
            self.left_out
                .push((INDEX.to_owned(), "this version of NCCL chooses the GID row itself".to_owned()));
            return;
        }
        let rows = |of: &Vec<(u32, Gid)>| -> BTreeSet<u32> {
            of.iter()
                .filter(|(_, gid)| wanted.is_preferred_row(*gid, GidType::V2))
                .map(|(index, _)| *index)
                .collect()
        };
        let common = own.iter().map(rows).reduce(|all, one| &all & &one).unwrap_or_default();
        match common.first() {
            Some(index) => {
                let why = match version {
                    Some(version) if version >= CHOOSES_ROWS_PAST_GAPS_SINCE => {
                        format!(
                            "without this line, NCCL {version} chooses a row that is not an address of this pod"
                        )
                    }
                    Some(version) => format!("NCCL {version} does not find the GID row in every pod"),
                    None => "the version of NCCL is not known, and older versions do not find the GID row"
                        .to_owned(),
                };
                self.add_line_unless_set(seen, INDEX, &index.to_string(), &why);
            }
            None => self.left_out.push((
                INDEX.to_owned(),
                "no GID row is right on all devices, but the variable applies to all devices".to_owned(),
            )),
        }
    }

    /// What NCCL looks for, by the environment and the lines so far.
    fn wanted_lines(&self, seen: &Readings) -> Wanted {
        let value = |name: &str| seen.set_by_user(name).map(|(value, _)| value).or_else(|| self.value(name));
        Wanted::new(value(FAMILY), value(RANGE), value(VERSION))
    }
}

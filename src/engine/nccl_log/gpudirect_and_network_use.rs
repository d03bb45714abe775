//! What a rank uses, and lists of ranks.

use super::log_facts::Log;
use super::ranks_communicators_processes::{Communicator, Rank};
use super::transport_names::{Transport, transport};
use std::collections::BTreeSet;
use std::fmt::Write;

/// Use of GPUDirect RDMA.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Direct {
    /// All connections over the network.
    All,
    /// Some of them.
    Some,
    /// None of them.
    None,
}

impl Direct {
    /// Published name.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::All => "all",
            Self::Some => "some",
            Self::None => "none",
        }
    }
}

impl Log {
    /// Use of GPUDirect by a rank: by its channels, else by the line about rings, else by the lines about NICs. `None` if no line
    /// shows it, or for TCP.
    #[must_use]
    pub fn gpudirect_use_of_rank(&self, rank: &Rank) -> Option<Direct> {
        if self.network_of(rank).map(transport) == Some(Transport::Tcp) {
            return None;
        }
        let of_counts = |direct: u32, copied: u32| match (direct, copied) {
            (0, 0) => None,
            (_, 0) => Some(Direct::All),
            (0, _) => Some(Direct::None),
            _ => Some(Direct::Some),
        };
        of_counts(rank.direct, rank.copied)
            .or_else(|| rank.rings_direct.map(|all| if all { Direct::All } else { Direct::None }))
            .or_else(|| self.process_of(rank).and_then(|p| of_counts(p.hca_direct[0], p.hca_direct[1])))
    }

    /// Hosts of a communicator, in the order of their ranks.
    #[must_use]
    pub fn hosts(&self, communicator: &Communicator) -> Vec<&str> {
        let mut seen = BTreeSet::new();
        self.ranks(communicator)
            .into_iter()
            .filter_map(|r| self.host(r))
            .filter(|host| seen.insert(*host))
            .collect()
    }

    /// Whether a communicator sends over the network, and whether a line shows it.
    #[must_use]
    pub fn does_use_network(&self, communicator: &Communicator) -> bool {
        let ranks = self.ranks(communicator);
        if ranks.iter().any(|r| r.direct + r.copied > 0) {
            return true;
        }
        // NVLink connects the nodes: without a channel over the network, the network is not used.
        !communicator.mnnvl
            && communicator.nodes.map_or_else(|| self.hosts(communicator).len() > 1, |nodes| nodes > 1)
    }
}

/// Names and link layers of the NICs in NCCL's list, such as `[0]mlx5_0:1/RoCE`, from 2.30 on `[0]mlx5_0:1:RAIL:PLANE/RoCE`.
pub fn nics_of_list(list: &str) -> impl Iterator<Item = (&str, &str)> {
    let one = |word| {
        let (_, nic): (&str, &str) = str::split_once(word, ']')?;
        let (device, link) = nic.split_once('/').unwrap_or((nic, ""));
        Some((device.split(':').next().unwrap_or(device), link.split('/').next().unwrap_or(link)))
    };
    list.split_ascii_whitespace().filter_map(one)
}

/// Numbers as ranges: `0-7, 9`. Long lists end with a count.
#[must_use]
pub fn number_ranges(ranks: impl IntoIterator<Item = u32>) -> String {
    const MOST: usize = 12;
    let sorted: BTreeSet<u32> = ranks.into_iter().collect();
    let mut ranges: Vec<(u32, u32)> = Vec::new();
    for rank in sorted {
        match ranges.last_mut() {
            Some((_, last)) if *last + 1 == rank => *last = rank,
            _ => ranges.push((rank, rank)),
        }
    }
    let mut out = String::new();
    for (first, last) in ranges.iter().take(MOST) {
        let comma = if out.is_empty() { "" } else { ", " };
        // Writing to a String does not fail.
        let _ =
            if first == last { write!(out, "{comma}{first}") } else { write!(out, "{comma}{first}-{last}") };
    }
    if ranges.len() > MOST {
        let _ = write!(out, " and {} more ranges", ranges.len() - MOST);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::number_ranges;

    #[test]
    fn ranks_are_shown_as_ranges() {
        assert_eq!(number_ranges([]), "");
        assert_eq!(number_ranges([3]), "3");
        assert_eq!(number_ranges([9, 1, 0, 2, 4, 5]), "0-2, 4-5, 9");
        assert_eq!(
            number_ranges((0..100).step_by(2)),
            "0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22 and 38 more ranges"
        );
    }
}

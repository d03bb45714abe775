//! Facts of a log, for those who judge and print them.

use super::lines_explain_knows::Matched;
use super::log_facts::Log;
use super::ranks_communicators_processes::{Communicator, Key, Process, Rank};
use super::shared_names::Name;
use super::transport_names::{Transport, transport};

impl Log {
    /// The communicators, in the order of their first lines.
    #[must_use]
    pub fn communicators(&self) -> &[Communicator] {
        &self.communicators
    }

    /// The ranks of a communicator, by their numbers.
    #[must_use]
    pub fn ranks<'a>(&'a self, communicator: &'a Communicator) -> Vec<&'a Rank> {
        let mut ranks: Vec<&Rank> = communicator.ranks.iter().filter_map(|at| self.ranks.get(*at)).collect();
        ranks.sort_by_key(|rank| (rank.rank, rank.process));
        ranks
    }

    /// The name of a communicator: its id, or that of the one that it was split from.
    #[must_use]
    pub fn communicator_in_words(&self, communicator: &Communicator) -> String {
        match communicator.key {
            Key::Id(id) => format!("{id:#x}"),
            Key::Split(parent, number, color) => {
                let parent = self.communicators.get(parent).filter(|p| !std::ptr::eq(*p, communicator));
                let of = match parent.map(|p| p.key) {
                    Some(Key::Id(id)) => format!(" of {id:#x}"),
                    Some(Key::Split(..)) => " of a split".to_owned(),
                    _ => String::new(),
                };
                format!("split {number}{of}, color {color}")
            }
            Key::Unnamed => "not named in the log".to_owned(),
        }
    }

    pub(super) fn process_of(&self, rank: &Rank) -> Option<&Process> {
        self.processes.get(rank.process)
    }

    pub(super) fn setting(&self, process: &Process, name: &str) -> Option<&str> {
        let value = process.settings.iter().find(|(known, _)| self.names.text(**known) == name);
        value.map(|(_, value)| self.names.text(*value))
    }

    fn of_rank(&self, rank: &Rank, name: impl Fn(&Process) -> Option<Name>) -> Option<&str> {
        self.process_of(rank).and_then(name).map(|name| self.names.text(name))
    }

    /// Host name of a rank.
    #[must_use]
    pub fn host(&self, rank: &Rank) -> Option<&str> {
        self.of_rank(rank, |process| process.host)
    }

    /// Version of NCCL: the process's own, or that of the whole log where it has one.
    #[must_use]
    pub fn version_of(&self, rank: &Rank) -> Option<&str> {
        let only = || (self.versions.len() == 1).then(|| self.versions.first()).flatten();
        self.of_rank(rank, |process| process.version).or_else(|| only().map(|name| self.names.text(*name)))
    }

    /// NICs of a rank as NCCL lists them.
    #[must_use]
    pub fn devices_of(&self, rank: &Rank) -> Option<&str> {
        self.of_rank(rank, |process| process.devices)
    }

    /// Interface of the bootstrap, and of the out-of-band connections of RDMA.
    #[must_use]
    pub fn bootstrap_of(&self, rank: &Rank) -> Option<&str> {
        self.of_rank(rank, |process| process.bootstrap).or_else(|| self.of_rank(rank, |process| process.oob))
    }

    /// Provider of libfabric.
    #[must_use]
    pub fn provider_of(&self, rank: &Rank) -> Option<&str> {
        self.of_rank(rank, |process| process.provider)
    }

    /// Network plugins that were loaded.
    #[must_use]
    pub fn plugins_of(&self, rank: &Rank) -> Vec<&str> {
        let plugins = self.process_of(rank).map(|process| &process.plugins);
        plugins.into_iter().flatten().map(|name| self.names.text(*name)).collect()
    }

    /// The networks of a rank: those of its channels, else the chosen one.
    pub fn networks_of(&self, rank: &Rank) -> impl Iterator<Item = &str> {
        let chosen = rank.network.filter(|_| rank.nets.is_empty());
        rank.nets.iter().copied().chain(chosen).map(|name| self.names.text(name))
    }

    /// The network of a rank. If one of several is TCP, it is TCP: one slow channel makes the job slow.
    #[must_use]
    pub fn network_of(&self, rank: &Rank) -> Option<&str> {
        let tcp = self.networks_of(rank).find(|name| transport(name) == Transport::Tcp);
        tcp.or_else(|| self.networks_of(rank).next())
    }

    /// Known lines, and warnings.
    pub fn known_lines(&self) -> impl Iterator<Item = &Matched> {
        self.known.iter()
    }
}

//! The declaration of a check, and what the checks see.

use super::expect::{Expectation, Policy, Transport};
use super::outcome::{Outcome, Verdict};
use super::seen::{Device, Port, Seen};
use crate::rdma::{Reading, Unreadable};

/// A check. Its folder has the declaration and the code in `mod.rs`, and the text in `page.md`.
#[derive(Debug, Clone, Copy)]
pub struct Check {
    /// `PFnnn`; the first digit is the group. Never reused.
    pub id: &'static str,
    /// Its text, `page.md`.
    pub page: &'static str,
    /// Whether only pods with RDMA devices need it.
    pub(super) rdma_only: bool,
    pub(super) judge: Judge,
}

pub(super) type Judge = fn(&Context<'_>) -> Outcome;

/// What a check sees.
#[derive(Debug, Clone, Copy)]
pub(super) struct Context<'a> {
    pub(super) seen: &'a Seen,
    /// What the profile expects; the default where nothing is expected.
    pub(super) expected: &'a Expectation,
}

impl Check {
    /// Its subject: the title of the page, after the id.
    #[must_use]
    pub fn title(&self) -> &'static str {
        let first = self.page.lines().next().unwrap_or_default();
        first.split_once(": ").map_or("", |(_, title)| title)
    }

    /// Runs the check under the profile's policy.
    #[must_use]
    pub fn run(&self, seen: &Seen) -> Outcome {
        let nothing = Expectation::default();
        let expected = match &seen.expectation {
            Ok(expected) => expected.as_ref().unwrap_or(&nothing),
            Err(_) => &nothing,
        };
        let policy = expected.policy(self.id);
        if policy == Policy::Off {
            return Outcome::off("the profile switches this check off");
        }
        let mut outcome = match expected.transport {
            Some(transport) if self.rdma_only && !transport.is_rdma() => {
                Outcome::off(format!("transport {} needs no RDMA device", transport.word()))
            }
            _ => (self.judge)(&Context { seen, expected }),
        };
        if policy == Policy::Warn && outcome.verdict == Verdict::Fail {
            outcome.verdict = Verdict::Warn;
        }
        // What the profile would have asked is not known, so nothing is certain.
        if outcome.verdict == Verdict::Pass && seen.expectation.is_err() && self.id != "PF001" {
            outcome =
                Outcome::unknown(format!("{}; the expectation of the profile is not known", outcome.message));
        }
        outcome
    }
}

/// A device that programs of this container can open.
#[derive(Debug, Clone, Copy)]
pub(super) struct Usable<'a> {
    pub(super) device: &'a Device,
}

impl<'a> Context<'a> {
    /// Devices that programs of this container can open, in the order of their names; or why they are not known.
    pub(super) fn usable(&self) -> Result<Vec<Usable<'a>>, Outcome> {
        let devices = read(&self.seen.devices, "/sys/class/infiniband")?;
        let nodes = read(&self.seen.nodes, "/sys/class/infiniband_verbs")?;
        let mut names = Vec::new();
        for node in nodes {
            let name = read(&node.device, &format!("/sys/class/infiniband_verbs/{}/ibdev", node.name))?;
            if node.opens.is_ok() {
                names.push(name.as_str());
            }
        }
        let usable = |device: &&Device| names.contains(&device.name.as_str());
        Ok(devices.iter().filter(usable).map(|device| Usable { device }).collect())
    }

    /// The usable devices, of which there is at least one.
    pub(super) fn some_usable(&self) -> Result<Vec<Usable<'a>>, Outcome> {
        let usable = self.usable()?;
        if usable.is_empty() {
            Err(Outcome::unknown("no usable RDMA device (see PF101)"))
        } else {
            Ok(usable)
        }
    }

    /// Every port of the usable devices.
    pub(super) fn ports(&self) -> Result<Vec<(&'a Device, &'a Port)>, Outcome> {
        let mut ports = Vec::new();
        for Usable { device } in self.some_usable()? {
            let of = read(&device.ports, &format!("ports of {}", device.name))?;
            ports.extend(of.iter().map(|port| (device, port)));
        }
        if ports.is_empty() { Err(Outcome::unknown("no usable RDMA device has a port")) } else { Ok(ports) }
    }

    pub(super) fn transport(&self) -> Option<Transport> {
        self.expected.transport
    }

    /// A variable of the environment that is set.
    pub(super) fn variable(&self, name: &str) -> Option<&'a str> {
        self.seen.environment.get(name).map(String::as_str)
    }
}

/// A value, or the outcome that it is unknown, with place and reason.
pub(super) fn read<'a, T>(reading: &'a Reading<T>, place: &str) -> Result<&'a T, Outcome> {
    reading.as_ref().map_err(|why| Outcome::unknown(format!("{place}: {why}")))
}

/// A device and its port, as NCCL writes them: `mlx5_0:1`.
pub(super) fn port_name(device: &Device, port: &Port) -> String {
    format!("{}:{}", device.name, port.number)
}

/// The outcome of a check that ends early where something is not known.
pub(super) fn either(outcome: Result<Outcome, Outcome>) -> Outcome {
    outcome.unwrap_or_else(|unknown| unknown)
}

/// Names in a sentence: the first few, and how many more.
pub(super) fn listed(names: &[impl AsRef<str>]) -> String {
    const SHOWN: usize = 4;
    let first: Vec<&str> = names.iter().take(SHOWN).map(AsRef::as_ref).collect();
    match names.len().checked_sub(SHOWN) {
        None | Some(0) => first.join(", "),
        Some(more) => format!("{} and {more} more", first.join(", ")),
    }
}

/// What was found in several places of one kind. A fault anywhere is certain; without one, a place that could not be read
/// leaves the whole unknown.
#[derive(Debug, Default)]
pub(super) struct Tally {
    /// Places that are as they should be.
    pub(super) good: Vec<String>,
    /// Places with a fault, in words.
    pub(super) bad: Vec<String>,
    /// Places that could not be read, with the reason.
    unknown: Vec<String>,
}

impl Tally {
    /// Counts a place that is good, bad, or not known.
    pub(super) fn add(&mut self, place: &str, found: Result<(), Found>) {
        match found {
            Ok(()) => self.good.push(place.to_owned()),
            Err(Found::Bad(what)) => self.bad.push(format!("{place} {what}")),
            Err(Found::Unknown(why)) => self.unknown.push(format!("{place}: {why}")),
        }
    }

    /// The outcome where no place is bad.
    pub(super) fn without_bad(&self, pass: impl FnOnce(&[String]) -> Outcome) -> Outcome {
        if !self.unknown.is_empty() {
            Outcome::unknown(listed(&self.unknown))
        } else if self.good.is_empty() {
            Outcome::unknown("found nothing to check")
        } else {
            pass(&self.good)
        }
    }
}

/// What is wrong with a place.
#[derive(Debug)]
pub(super) enum Found {
    Bad(String),
    Unknown(String),
}

impl From<&Unreadable> for Found {
    fn from(why: &Unreadable) -> Self {
        Self::Unknown(why.to_string())
    }
}

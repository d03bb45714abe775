//! The declaration of a check, and what the checks see.

use super::check_outcome::{PreflightCheckOutcome, Verdict};
use super::expectation_document::{Expectation, Policy, Transport};
use super::nccl_conf_lines_from_readings::Conf;
use super::readings::{Device, Interface, Port, Readings, USER_CONF};
pub(super) use super::usable_devices::value_or_outcome;
use super::usable_devices::{ports_of_usable_devices_or_outcome, usable_devices_or_outcome};
use crate::nccl::numbers_as_nccl_reads::leading_number;
use crate::rdma::Unreadable;
use crate::rdma::port::LinkLayer;

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

pub(super) type Judge = fn(&Context<'_>) -> PreflightCheckOutcome;

/// What a check sees.
#[derive(Debug, Clone, Copy)]
pub(super) struct Context<'a> {
    pub(super) seen: &'a Readings,
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
    pub fn judge_with_policy(&self, seen: &Readings) -> PreflightCheckOutcome {
        let nothing = Expectation::default();
        let expected = match &seen.expectation {
            Ok(expected) => expected.as_ref().unwrap_or(&nothing),
            Err(_) => &nothing,
        };
        let policy = expected.policy(self.id);
        if policy == Policy::Skip {
            return PreflightCheckOutcome::off("the profile switches this check off");
        }
        let mut outcome = match expected.transport {
            Some(transport) if self.rdma_only && !transport.is_rdma() => {
                PreflightCheckOutcome::off(format!("transport {} needs no RDMA device", transport.word()))
            }
            // Without an expectation, a pod that sees no RDMA device may be one that needs none.
            None if self.rdma_only && expected.devices.is_none() => match usable_devices_or_outcome(seen) {
                Ok(devices) if devices.is_empty() => PreflightCheckOutcome::unknown(
                    "no usable RDMA device, and nothing shows whether the pod should have one",
                ),
                Ok(_) => (self.judge)(&Context { seen, expected }),
                Err(unknown) => unknown,
            },
            _ => (self.judge)(&Context { seen, expected }),
        };
        if policy == Policy::Warn && outcome.verdict == Verdict::Fail {
            outcome.verdict = Verdict::Warn;
        }
        // What the profile would have asked is not known, so nothing is certain.
        if outcome.verdict == Verdict::Pass && seen.expectation.is_err() && self.id != "PF001" {
            outcome = PreflightCheckOutcome::unknown(format!(
                "{}; what the profile expects is not known (see PF001)",
                outcome.message
            ));
        }
        outcome
    }
}

impl<'a> Context<'a> {
    /// Devices that programs of this container can open, or why they are not known.
    pub(super) fn usable(&self) -> Result<Vec<&'a Device>, PreflightCheckOutcome> {
        usable_devices_or_outcome(self.seen)
    }

    /// Every port of the usable devices.
    pub(super) fn ports(&self) -> Result<Vec<(&'a Device, &'a Port)>, PreflightCheckOutcome> {
        ports_of_usable_devices_or_outcome(self.seen)
    }

    pub(super) fn transport(&self) -> Option<Transport> {
        self.expected.transport
    }

    /// The value that NCCL takes for a variable, and where it comes from: the environment, the user's file, then
    /// `/etc/nccl.conf`, which is the file of preflight or that of the image.
    pub(super) fn effective_setting(
        &self,
        name: &str,
    ) -> Result<Option<(String, &'static str)>, PreflightCheckOutcome> {
        value_or_outcome(&self.seen.environment, "environment")?;
        if let Some((value, place)) = self.seen.set_by_user(name) {
            return Ok(Some((value.to_owned(), place)));
        }
        value_or_outcome(&self.seen.user_conf, USER_CONF)?;
        if self.expected.write.is_some() {
            let conf = Conf::lines_from_readings(self.seen);
            return Ok(conf.value(name).map(|value| (value.to_owned(), "nccl.conf")));
        }
        let conf = value_or_outcome(&self.seen.image_conf, "/etc/nccl.conf")?;
        Ok(conf.get(name).map(|value| (value.clone(), "/etc/nccl.conf")))
    }

    /// The transport of the profile as profiles write it, and the link layer that its ports have.
    pub(super) fn link_layer(&self) -> Option<(&'static str, LinkLayer)> {
        match self.transport()? {
            Transport::Roce => Some(("roce", LinkLayer::Ethernet)),
            Transport::Infiniband => Some(("infiniband", LinkLayer::InfiniBand)),
            Transport::Efa => Some(("efa", LinkLayer::Unknown)),
            _ => None,
        }
    }

    /// The number that NCCL takes for a variable, where it is set.
    pub(super) fn effective_number(
        &self,
        name: &str,
    ) -> Result<Option<(i64, &'static str)>, PreflightCheckOutcome> {
        let set = self.effective_setting(name)?.filter(|(value, _)| !value.is_empty());
        Ok(set.map(|(value, place)| (leading_number(&value), place)))
    }

    /// Interfaces that the profile expects.
    pub(super) fn rails(&self) -> Result<&'a [String], PreflightCheckOutcome> {
        match self.expected.interfaces.as_slice() {
            [] if matches!(self.seen.expectation, Ok(Some(_))) => {
                Err(PreflightCheckOutcome::off("the profile does not name the interfaces of its rails"))
            }
            [] => {
                Err(PreflightCheckOutcome::unknown("the interfaces of the rails are not known (see PF001)"))
            }
            names => Ok(names),
        }
    }

    /// An interface by its name.
    pub(super) fn interface(&self, name: &str) -> Result<Option<&'a Interface>, PreflightCheckOutcome> {
        let interfaces = value_or_outcome(&self.seen.interfaces, "/sys/class/net")?;
        Ok(interfaces.iter().find(|interface| interface.name == name))
    }
}

/// A device and its port, as NCCL writes them: `mlx5_0:1`.
pub(super) fn port_name(device: &Device, port: &Port) -> String {
    format!("{}:{}", device.name, port.number)
}

/// The outcome of a check that ends early where something is not known.
pub(super) fn either_outcome(
    outcome: Result<PreflightCheckOutcome, PreflightCheckOutcome>,
) -> PreflightCheckOutcome {
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
    pub(super) fn outcome_if_none_is_bad(
        &self,
        pass: impl FnOnce(&[String]) -> PreflightCheckOutcome,
    ) -> PreflightCheckOutcome {
        if !self.unknown.is_empty() {
            PreflightCheckOutcome::unknown(listed(&self.unknown))
        } else if self.good.is_empty() {
            PreflightCheckOutcome::unknown("preflight found nothing to check")
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

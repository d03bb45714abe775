//! The counts, as `why` shows them.

use super::{CountedNetwork, DeviceOfAttachment, OtherFabric, OwnFabricResult, UserFabric};
use crate::text::{count_with_noun, escaped_and_cut};

impl UserFabric {
    /// Attachments and rails in one line: `8 of 8 rails: team-rails (8 times, nvidia.com/sriov_resource)`.
    #[must_use]
    pub fn attachments_in_words(&self) -> String {
        let have = self.own + self.stand_ins;
        let rails = format!("{have} of {}", count_with_noun(self.rails, "rail"));
        match self.networks.is_empty() {
            true => rails,
            false => {
                let networks: Vec<String> = self.networks.iter().map(network).collect();
                format!("{rails}: {}", networks.join(", "))
            }
        }
    }

    /// Units in one line: `nvidia.com/sriov_resource: 8`; those of other containers separately.
    #[must_use]
    pub fn units_in_words(&self) -> String {
        let units = self.units.iter().map(|units| {
            let name = escaped_and_cut(&units.resource, 80);
            match units.others {
                0 => format!("{name}: {}", units.targets),
                others => format!("{name}: {} and {others} on other containers", units.targets),
            }
        });
        let units: Vec<String> = units.collect();
        if units.is_empty() { "none".to_owned() } else { units.join(", ") }
    }

    /// The conclusion, in one word for programs.
    #[must_use]
    pub fn result_word(&self) -> &'static str {
        match self.completeness {
            OwnFabricResult::Incomplete => "incomplete",
            OwnFabricResult::Complete => "complete",
            OwnFabricResult::CompleteByUnits => "completeByUnits",
            OwnFabricResult::OtherFabric(_) => "otherFabric",
        }
    }

    /// The conclusion, for people.
    #[must_use]
    pub fn result_in_words(&self) -> String {
        match &self.completeness {
            OwnFabricResult::Incomplete if self.rails == 0 => "the profile has no rails to add".to_owned(),
            OwnFabricResult::Incomplete if self.own >= self.rails => "every rail is attached".to_owned(),
            OwnFabricResult::Incomplete => "the profile adds the missing rails".to_owned(),
            OwnFabricResult::Complete => {
                "these networks replace the rails, so the webhook adds no network".to_owned()
            }
            OwnFabricResult::CompleteByUnits => {
                "the pod requests a unit for each unknown network, so the webhook adds no network".to_owned()
            }
            OwnFabricResult::OtherFabric(other) => format!("{}: the pod has its own fabric", shown_by(other)),
        }
    }
}

fn network(network: &CountedNetwork) -> String {
    let times = if network.times > 1 { format!("{} times, ", network.times) } else { String::new() };
    let device = match &network.over {
        DeviceOfAttachment::Resource(resource) => escaped_and_cut(resource, 80),
        DeviceOfAttachment::NoDevice => "no device".into(),
        DeviceOfAttachment::Unknown => "not known".into(),
    };
    format!("{} ({times}{device})", network.name)
}

fn shown_by(other: &OtherFabric) -> String {
    match other {
        OtherFabric::Unit(resource) => format!("resource {}", escaped_and_cut(resource, 80)),
        OtherFabric::Claim(claim) => {
            format!(
                "claim {} on NICs ({})",
                escaped_and_cut(&claim.claim, 63),
                escaped_and_cut(&claim.class, 80)
            )
        }
        OtherFabric::UnknownClaim(claim) => format!(
            "claim {} on devices of unknown class {}",
            escaped_and_cut(&claim.claim, 63),
            escaped_and_cut(&claim.class, 80)
        ),
        OtherFabric::Child(network, resource) => {
            format!("network {network} beside resource {}", escaped_and_cut(resource, 80))
        }
        OtherFabric::Networks(attachments, resource) => {
            format!("{attachments} attachments over resource {}", escaped_and_cut(resource, 80))
        }
    }
}

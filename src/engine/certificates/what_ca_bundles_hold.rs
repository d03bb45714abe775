//! The caBundles of a webhook configuration, as last read.

use super::ca_certificate::Authority;

/// Known facts about one configuration.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Look {
    /// The caBundle of each of its webhooks, decoded.
    Present(Vec<Vec<u8>>),
    /// It does not exist, so no API server calls us through it.
    Absent,
    /// It cannot be read.
    Unknown,
}

impl Look {
    /// Whether every webhook has this caBundle. A configuration that does not exist has it: there is nothing to write.
    #[must_use]
    pub fn do_all_webhooks_have_bundle(&self, bundle: &str) -> bool {
        match self {
            Self::Present(bundles) => bundles.iter().all(|b| b == bundle.as_bytes()),
            Self::Absent => true,
            Self::Unknown => false,
        }
    }

    /// Whether every webhook trusts a CA.
    #[must_use]
    pub fn do_all_webhooks_trust(&self, authority: &Authority) -> bool {
        match self {
            Self::Present(bundles) => {
                bundles.iter().all(|b| std::str::from_utf8(b).is_ok_and(|text| text.contains(&authority.pem)))
            }
            Self::Absent => true,
            Self::Unknown => false,
        }
    }

    /// Whether a webhook is known not to trust a CA.
    #[must_use]
    pub fn is_known_not_to_trust(&self, authority: &Authority) -> bool {
        matches!(self, Self::Present(_)) && !self.do_all_webhooks_trust(authority)
    }
}

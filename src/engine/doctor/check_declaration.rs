//! The declaration of a check.

use super::check_outcome::DoctorCheckOutcome;
use super::facts_that_were_read::Facts;
use super::what_is_read::Source;

/// The page about all checks.
const PAGE: &str = concat!(env!("CARGO_PKG_REPOSITORY"), "/blob/main/docs/doctor.md");

/// A part of the report.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Section {
    /// The API server.
    Kubernetes,
    /// Rights of the caller and of the server.
    Rights,
    /// CRDs, Multus, device plugins.
    Cluster,
    /// FabricProfiles and nodes.
    Profiles,
    /// Webhook configurations.
    Webhooks,
    /// The server, and the way to it.
    Server,
    /// Namespaces of users.
    Namespaces,
    /// Calls from end to end.
    Calls,
}

impl Section {
    /// Its title.
    #[must_use]
    pub fn title(self) -> &'static str {
        match self {
            Self::Kubernetes => "API server",
            Self::Rights => "Rights",
            Self::Cluster => "Networks and devices",
            Self::Profiles => "FabricProfiles",
            Self::Webhooks => "Webhook configurations",
            Self::Server => "Server",
            Self::Namespaces => "Namespaces",
            Self::Calls => "End to end",
        }
    }
}

/// When a check makes sense.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Phase {
    /// Before an installation (`--pre`).
    Before,
    /// After it.
    After,
    /// Before and after.
    Both,
}

/// One check.
#[derive(Debug)]
pub struct Check {
    /// Id, and anchor in docs/doctor.md.
    pub id: &'static str,
    /// Its part of the report.
    pub section: Section,
    /// Its subject.
    pub description: &'static str,
    /// When it makes sense.
    pub phase: Phase,
    /// Whether time may change the result: `--wait` runs it again.
    pub retryable: bool,
    /// What it reads from the API server.
    pub needs: &'static [&'static Source],
    /// What goes wrong otherwise, for docs/doctor.md.
    pub meaning: &'static str,
    /// What to do, for docs/doctor.md.
    pub fix: &'static str,
    /// Decides. `Err` for a check without its facts.
    pub(super) judge: fn(&Facts) -> Result<DoctorCheckOutcome, DoctorCheckOutcome>,
}

impl Check {
    /// Whether it belongs to a run.
    #[must_use]
    pub fn is_for(&self, before: bool) -> bool {
        match self.phase {
            Phase::Both => true,
            Phase::Before => before,
            Phase::After => !before,
        }
    }

    /// Its result.
    #[must_use]
    pub fn run(&self, facts: &Facts) -> DoctorCheckOutcome {
        (self.judge)(facts).unwrap_or_else(|skipped| skipped)
    }

    /// The anchored page about it.
    #[must_use]
    pub fn page(&self) -> String {
        format!("{PAGE}#{}", self.id)
    }
}

//! Kinds of findings in a log.

/// How serious a finding is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// Worth knowing.
    Info,
    /// Slower than it could be, or not certain.
    Warning,
    /// Wrong, or not proved.
    Error,
}

/// Kind of a finding. The names are published (docs/verify-log.md).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// TCP between nodes.
    TcpFallback,
    /// Another transport than `--expect`.
    UnexpectedNetwork,
    /// Ranks of a communicator that differ.
    RanksDiffer,
    /// A known line that means a failure.
    FailureLine,
    /// Data between GPU and NIC passes through host memory.
    NoGpuDirect,
    /// A known failure that NCCL did not call a warning: it tried again, or went on without the feature.
    Retried,
    /// Warnings of NCCL that are not known.
    UnknownWarning,
    /// Ranks that began and did not finish initialisation.
    IncompleteInit,
    /// Ranks that the log does not have.
    MissingRanks,
    /// No line of NCCL.
    NoNcclLines,
    /// No communicator.
    NoCommunicator,
    /// No communicator sends over the network.
    NetworkNotUsed,
    /// A communicator spans nodes, and no line names its transport.
    NetworkUnknown,
    /// The log has more facts than are kept.
    BeyondLimits,
}

impl Kind {
    /// Published name.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::TcpFallback => "tcp-fallback",
            Self::UnexpectedNetwork => "unexpected-network",
            Self::RanksDiffer => "ranks-differ",
            Self::FailureLine => "failure-line",
            Self::NoGpuDirect => "no-gpudirect",
            Self::Retried => "retried",
            Self::UnknownWarning => "unknown-warning",
            Self::IncompleteInit => "incomplete-init",
            Self::MissingRanks => "missing-ranks",
            Self::NoNcclLines => "no-nccl-lines",
            Self::NoCommunicator => "no-communicator",
            Self::NetworkNotUsed => "network-not-used",
            Self::NetworkUnknown => "network-unknown",
            Self::BeyondLimits => "beyond-limits",
        }
    }

    /// How serious it is.
    #[must_use]
    pub fn level(self) -> Level {
        match self {
            Self::NoGpuDirect | Self::Retried | Self::UnknownWarning => Level::Warning,
            Self::MissingRanks => Level::Info,
            _ => Level::Error,
        }
    }

    /// Whether the log has nothing to judge: neither a pass nor a failure.
    #[must_use]
    pub fn is_unknown(self) -> bool {
        matches!(
            self,
            Self::NoNcclLines
                | Self::NoCommunicator
                | Self::NetworkNotUsed
                | Self::NetworkUnknown
                | Self::IncompleteInit
                | Self::BeyondLimits
        )
    }
}

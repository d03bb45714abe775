//! Effective throughputs of fabrics.

/// A fabric with its published effective throughput.
#[derive(Debug, Clone, PartialEq)]
pub struct Fabric {
    /// Name on the command line.
    pub id: String,
    /// Name in a table.
    pub title: String,
    /// Bytes per second.
    pub throughput: f64,
}

/// A published row.
#[derive(Debug, Clone, Copy)]
pub struct PublishedThroughput {
    /// Name on the command line.
    pub id: &'static str,
    /// Name in a table.
    pub title: &'static str,
    /// Bytes per second.
    pub throughput: f64,
}

/// Effective throughputs as practitioners publish them: of one NIC, with large messages.
pub const FABRICS: [PublishedThroughput; 5] = [
    PublishedThroughput { id: "1gbe", title: "1 GbE", throughput: 110e6 },
    PublishedThroughput { id: "10gbe", title: "10 GbE", throughput: 1.1e9 },
    PublishedThroughput { id: "25gbe", title: "25 GbE", throughput: 2.8e9 },
    PublishedThroughput { id: "100gbe-tcp", title: "100 GbE TCP", throughput: 9e9 },
    PublishedThroughput { id: "100gbe-rdma", title: "100 GbE RDMA", throughput: 11e9 },
];

impl From<PublishedThroughput> for Fabric {
    fn from(known: PublishedThroughput) -> Self {
        Self { id: known.id.to_owned(), title: known.title.to_owned(), throughput: known.throughput }
    }
}

/// How data crosses a rail, with the share of the line rate that all_reduce_perf reaches as bus bandwidth. Published
/// values: InfiniBand NDR 380 of 400 Gb/s, RoCE 90 of 100, TCP 60 of 100.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Link {
    /// InfiniBand.
    InfiniBand,
    /// RoCE.
    Roce,
    /// TCP sockets.
    Tcp,
}

impl Link {
    /// Share of the line rate.
    #[must_use]
    pub fn efficiency(self) -> f64 {
        match self {
            Self::InfiniBand => 0.95,
            Self::Roce => 0.90,
            Self::Tcp => 0.60,
        }
    }

    /// Name in a table.
    #[must_use]
    pub fn title(self) -> &'static str {
        match self {
            Self::InfiniBand => "InfiniBand",
            Self::Roce => "RoCE",
            Self::Tcp => "TCP",
        }
    }

    /// Number and line rate of rails, as a title shows them.
    #[must_use]
    pub fn rails_in_words(self, rails: u32, rate: f64) -> String {
        format!("{rails} x {rate:.0} Gb/s {}", self.title())
    }

    /// Bytes per second of rails with this line rate (Gb/s), all of a node together.
    #[must_use]
    pub fn throughput(self, rate: f64, rails: u32) -> f64 {
        rate * 1e9 / 8.0 * self.efficiency() * f64::from(rails)
    }
}

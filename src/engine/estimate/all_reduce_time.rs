//! The time of an all-reduce, and the share of a step that is left for computing.

use super::model_sizes::Precision;

/// A training step.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Step {
    /// Parameters of the model.
    pub parameters: f64,
    /// Number format of the gradients.
    pub precision: Precision,
    /// Number of GPUs that average their gradients.
    pub gpus: u32,
    /// Compute time of a step, forward and backward (seconds).
    pub compute: f64,
}

/// Times of an all-reduce (seconds).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct AllReduce {
    /// Gradients / throughput, as published estimates have it.
    pub simple: f64,
    /// A ring sends each byte 2(n-1)/n times (NVIDIA/nccl-tests doc/PERFORMANCE.md).
    pub ring: f64,
    /// A double binary tree sends each byte twice, and has fewer steps: its latency grows with the logarithm of n.
    pub tree: f64,
}

/// Share of the backward pass in the compute time: it costs twice the forward pass, and NCCL runs beside it.
const BACKWARD_SHARE_OF_COMPUTE: f64 = 2.0 / 3.0;

impl Step {
    /// Bytes of the gradients.
    #[must_use]
    pub fn bytes(&self) -> f64 {
        self.parameters * self.precision.bytes()
    }

    /// Times of the all-reduce of one step at a throughput (bytes per second).
    #[must_use]
    pub fn all_reduce(&self, throughput: f64) -> AllReduce {
        let simple = self.bytes() / throughput;
        let n = f64::from(self.gpus.max(1));
        let alone = self.gpus < 2;
        let of = |factor: f64| if alone { 0.0 } else { simple * factor };
        AllReduce { simple: of(1.0), ring: of(2.0 * (n - 1.0) / n), tree: of(2.0) }
    }

    /// Share of a step in which the GPUs compute, if communication follows compute.
    #[must_use]
    pub fn utilisation(&self, communication: f64) -> f64 {
        self.compute / (self.compute + communication)
    }

    /// The same if communication runs beside the whole backward pass.
    #[must_use]
    pub fn busy_share_with_overlap(&self, communication: f64) -> f64 {
        self.utilisation((communication - BACKWARD_SHARE_OF_COMPUTE * self.compute).max(0.0))
    }

    /// What the times mean.
    #[must_use]
    pub fn verdict(&self, communication: f64) -> Verdict {
        let utilisation = self.utilisation(communication);
        if communication > 10.0 * self.compute {
            Verdict::Severe
        } else if utilisation < 0.2 {
            Verdict::Idle
        } else if utilisation < 0.5 {
            Verdict::NetworkBound
        } else {
            Verdict::ComputeBound
        }
    }
}

/// What the times mean.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// Communication takes more than ten times the compute time.
    Severe,
    /// The GPUs compute less than a fifth of the time.
    Idle,
    /// Communication takes longer than compute.
    NetworkBound,
    /// Compute takes longer.
    ComputeBound,
}

impl Verdict {
    /// Published name.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Severe => "severely network-bound",
            Self::Idle => "GPUs mostly idle",
            Self::NetworkBound => "network-bound",
            Self::ComputeBound => "compute-bound",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::fabric_throughput::{FABRICS, Link};
    use super::super::model_sizes::MODELS;
    use super::*;

    fn near(found: f64, expected: f64) -> bool {
        (found / expected - 1.0).abs() < 0.01
    }

    /// The published example: BERT-base in FP32, 150 ms of compute, 100,000 iterations.
    #[test]
    fn the_published_table_is_reproduced() {
        let bert = MODELS.iter().find(|model| model.name == "bert-base").unwrap();
        let step = Step { parameters: bert.parameters, precision: Precision::Fp32, gpus: 8, compute: 0.15 };
        assert!(near(step.bytes(), 440e6), "{}", step.bytes());
        for (fabric, seconds, utilisation, hours) in [
            ("1gbe", 4.0, Some(0.036), Some(115.0)),
            ("10gbe", 0.4, None, None),
            ("100gbe-rdma", 0.04, Some(0.79), Some(5.3)),
        ] {
            let fabric = FABRICS.iter().find(|known| known.id == fabric).unwrap();
            let simple = step.all_reduce(fabric.throughput).simple;
            assert!(near(simple, seconds), "{}: {simple}", fabric.id);
            if let Some(expected) = utilisation {
                let found = step.utilisation(simple);
                assert!((found - expected).abs() < 0.005, "{}: {found}", fabric.id);
            }
            if let Some(expected) = hours {
                let found = 100_000.0 * (step.compute + simple) / 3600.0;
                assert!(near(found, expected), "{}: {found}", fabric.id);
            }
        }
    }

    #[test]
    fn a_ring_of_two_sends_each_byte_once() {
        let step = Step { parameters: 1e9, precision: Precision::Bf16, gpus: 2, compute: 1.0 };
        let times = step.all_reduce(2e9);
        assert_eq!(times, AllReduce { simple: 1.0, ring: 1.0, tree: 2.0 });
        let more = Step { gpus: 1024, ..step }.all_reduce(2e9);
        assert!(more.ring > 1.99 && more.ring < more.tree);
    }

    #[test]
    fn one_gpu_sends_nothing() {
        for gpus in [0, 1] {
            let step = Step { parameters: 1e9, precision: Precision::Bf16, gpus, compute: 1.0 };
            assert_eq!(step.all_reduce(1e9), AllReduce { simple: 0.0, ring: 0.0, tree: 0.0 });
        }
    }

    #[test]
    fn overlap_hides_at_most_the_backward_pass() {
        let step = Step { parameters: 1e9, precision: Precision::Bf16, gpus: 8, compute: 0.9 };
        assert!((step.busy_share_with_overlap(0.6) - 1.0).abs() < 1e-9);
        assert!((step.busy_share_with_overlap(1.5) - 0.5).abs() < 1e-9);
        assert!(step.busy_share_with_overlap(1.5) > step.utilisation(1.5));
    }

    #[test]
    fn verdicts_follow_the_rules_of_thumb() {
        let step = Step { parameters: 1e9, precision: Precision::Bf16, gpus: 8, compute: 1.0 };
        for (seconds, verdict) in [
            (0.5, Verdict::ComputeBound),
            (1.5, Verdict::NetworkBound),
            (5.0, Verdict::Idle),
            (11.0, Verdict::Severe),
        ] {
            assert_eq!(step.verdict(seconds), verdict, "{seconds}");
        }
    }

    #[test]
    fn link_efficiencies_give_the_published_bus_bandwidths() {
        for (link, rate, published) in
            [(Link::InfiniBand, 400.0, 380.0), (Link::Roce, 100.0, 90.0), (Link::Tcp, 100.0, 60.0)]
        {
            let found = link.throughput(rate, 1) * 8.0 / 1e9;
            assert!(near(found, published), "{link:?}: {found}");
        }
    }
}

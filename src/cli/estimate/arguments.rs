//! Flags, and the forms of their values.

use crate::estimate::{FABRICS, Link, Precision, parse_parameter_count};
use clap::ValueEnum;
use std::path::PathBuf;

#[derive(Debug, clap::Args)]
pub(in crate::cli) struct Arguments {
    /// Number of parameters of the model, such as 7B or 340M, or the name of a model: resnet-50, bert-base, bert-large, gpt-2, llama-7b
    #[arg(long, value_name = "NUMBER", value_parser = parse_parameter_count)]
    pub(super) parameters: f64,
    /// Compute time of one training step on the GPUs (forward and backward pass), such as 150ms or 1.2s
    #[arg(long, value_name = "TIME", value_parser = parse_compute_time)]
    pub(super) compute: f64,
    /// Number of GPUs that average their gradients
    #[arg(long, value_name = "COUNT", default_value_t = 8, value_parser = clap::value_parser!(u32).range(1..=10_000_000))]
    pub(super) gpus: u32,
    /// Number format of the gradients
    #[arg(long, value_enum, default_value_t = Format::Bf16)]
    pub(super) precision: Format,
    /// Number of training steps; with this flag, the output shows the duration of the training
    #[arg(long, value_name = "COUNT")]
    pub(super) iterations: Option<u64>,
    /// Fabric to show: 1gbe, 10gbe, 25gbe, 100gbe-tcp or 100gbe-rdma; repeatable. Default: all five, or
    /// none if --rate or --facts is given
    #[arg(long, value_name = "NAME", value_parser = fabric)]
    pub(super) fabric: Vec<usize>,
    /// Line rate of each rail of your nodes, in Gb/s, such as 400
    #[arg(long, value_name = "GBPS", value_parser = parse_line_rate)]
    pub(super) rate: Option<f64>,
    /// Number of rails of each node, for --rate; default: 1, or the number of rails of --profile
    #[arg(long, value_name = "COUNT", requires = "rate", value_parser = clap::value_parser!(u32).range(1..=1024))]
    pub(super) rails: Option<u32>,
    /// Transport of the rails, for --rate or --facts; default: the transport of --profile or of the facts, else roce
    #[arg(long, value_enum)]
    pub(super) transport: Option<TransportArgument>,
    /// Built-in base profile with the rails and the transport of your nodes, for --rate
    #[arg(long, value_name = "NAME", requires = "rate")]
    pub(super) profile: Option<String>,
    /// File facts.json that preflight wrote on a node. The file has the line rate, number and transport of the node's
    /// ports
    #[arg(long, value_name = "FILE", conflicts_with_all = ["rate", "rails", "profile"])]
    pub(super) facts: Option<PathBuf>,
    /// Output format
    #[arg(long, short, value_enum, default_value_t = Output::Text)]
    pub(super) output: Output,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum Format {
    /// 4 bytes
    Fp32,
    /// 2 bytes
    Fp16,
    /// 2 bytes
    Bf16,
    /// 1 byte
    Fp8,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum TransportArgument {
    /// 0.95 of the line rate
    Infiniband,
    /// 0.90 of the line rate
    Roce,
    /// 0.60 of the line rate
    Tcp,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum Output {
    /// Text for a terminal
    Text,
    /// One JSON document, schema fabric-admission.dev/estimate/v1
    Json,
}

impl From<Format> for Precision {
    fn from(format: Format) -> Self {
        match format {
            Format::Fp32 => Self::Fp32,
            Format::Fp16 => Self::Fp16,
            Format::Bf16 => Self::Bf16,
            Format::Fp8 => Self::Fp8,
        }
    }
}

impl From<TransportArgument> for Link {
    fn from(way: TransportArgument) -> Self {
        match way {
            TransportArgument::Infiniband => Self::InfiniBand,
            TransportArgument::Roce => Self::Roce,
            TransportArgument::Tcp => Self::Tcp,
        }
    }
}

/// `150ms`, `1.2s`, `0.15` seconds.
pub(super) fn parse_compute_time(text: &str) -> Result<f64, String> {
    let (number, factor) = match (text.strip_suffix("ms"), text.strip_suffix('s')) {
        (Some(number), _) => (number, 1e-3),
        (None, Some(number)) => (number, 1.0),
        (None, None) => (text, 1.0),
    };
    let value = number.trim().parse::<f64>().ok().map(|number| number * factor);
    let valid = |value: &f64| value.is_finite() && *value >= 1e-6 && *value <= 1e6;
    value.filter(valid).ok_or_else(|| "write a time such as 150ms or 1.2s".to_owned())
}

pub(super) fn parse_line_rate(text: &str) -> Result<f64, String> {
    let value = text.parse::<f64>().ok().filter(|value| value.is_finite() && *value > 0.0 && *value <= 1e6);
    value.ok_or_else(|| "write a line rate in Gb/s, such as 400".to_owned())
}

/// The place of a fabric in the table.
fn fabric(text: &str) -> Result<usize, String> {
    FABRICS.iter().position(|known| known.id.eq_ignore_ascii_case(text)).ok_or_else(|| {
        let names: Vec<&str> = FABRICS.iter().map(|known| known.id).collect();
        format!("known: {}", names.join(", "))
    })
}

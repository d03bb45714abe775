//! `estimate`: whether the network is the bottleneck of a training, by formulas.

use super::Exit;
use super::input;
use crate::estimate::{Document, FABRICS, Fabric, Link, Precision, Step, parameters, write};
use crate::profile::schema::Transport;
use clap::ValueEnum;
use std::io::{self, Write};

#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    /// Parameters of the model, such as 7B or 340M, or a model: resnet-50, bert-base, bert-large, gpt-2, llama-7b
    #[arg(long, value_name = "NUMBER", value_parser = parameters)]
    parameters: f64,
    /// Compute time of a step on the GPUs, forward and backward, such as 150ms or 1.2s
    #[arg(long, value_name = "TIME", value_parser = seconds)]
    compute: f64,
    /// GPUs that average their gradients
    #[arg(long, value_name = "COUNT", default_value_t = 8, value_parser = clap::value_parser!(u32).range(1..=10_000_000))]
    gpus: u32,
    /// Format of the gradients
    #[arg(long, value_enum, default_value_t = Format::Bf16)]
    precision: Format,
    /// Steps of the training, for its duration
    #[arg(long, value_name = "COUNT")]
    iterations: Option<u64>,
    /// Only these fabrics: 1gbe, 10gbe, 25gbe, 100gbe-tcp, 100gbe-rdma; repeatable
    #[arg(long, value_name = "NAME", value_parser = fabric)]
    fabric: Vec<usize>,
    /// Line rate of each rail of your nodes, in Gb/s, such as 400
    #[arg(long, value_name = "GBPS", value_parser = rate)]
    rate: Option<f64>,
    /// Rails of each node, for --rate; default: 1, or the rails of --profile
    #[arg(long, value_name = "COUNT", requires = "rate", value_parser = clap::value_parser!(u32).range(1..=1024))]
    rails: Option<u32>,
    /// Transport of the rails, for --rate; default: roce, or the transport of --profile
    #[arg(long, value_enum, requires = "rate")]
    transport: Option<Way>,
    /// Compiled-in FabricProfile with the rails and the transport of your nodes, for --rate
    #[arg(long, value_name = "NAME", requires = "rate")]
    profile: Option<String>,
    /// Output format
    #[arg(long, short, value_enum, default_value_t = Output::Text)]
    output: Output,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Format {
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
enum Way {
    /// 0.95 of the line rate
    Infiniband,
    /// 0.90 of the line rate
    Roce,
    /// 0.60 of the line rate
    Tcp,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Output {
    /// Text for a terminal
    Text,
    /// One JSON document, schema fabric-admission.dev/estimate/v1
    Json,
}

/// `150ms`, `1.2s`, `0.15` seconds.
fn seconds(text: &str) -> Result<f64, String> {
    let (number, factor) = match (text.strip_suffix("ms"), text.strip_suffix('s')) {
        (Some(number), _) => (number, 1e-3),
        (None, Some(number)) => (number, 1.0),
        (None, None) => (text, 1.0),
    };
    let value = number.trim().parse::<f64>().ok().map(|number| number * factor);
    let valid = |value: &f64| value.is_finite() && *value >= 1e-6 && *value <= 1e6;
    value.filter(valid).ok_or_else(|| "write a time such as 150ms or 1.2s".to_owned())
}

fn rate(text: &str) -> Result<f64, String> {
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

pub(super) fn run(arguments: &Arguments, out: &mut dyn Write, err: &mut dyn Write) -> io::Result<Exit> {
    let step = Step {
        parameters: arguments.parameters,
        precision: match arguments.precision {
            Format::Fp32 => Precision::Fp32,
            Format::Fp16 => Precision::Fp16,
            Format::Bf16 => Precision::Bf16,
            Format::Fp8 => Precision::Fp8,
        },
        gpus: arguments.gpus,
        compute: arguments.compute,
    };
    let all = arguments.fabric.is_empty() && arguments.rate.is_none();
    let chosen = |at: &usize| all || arguments.fabric.contains(at);
    let known = FABRICS.iter().enumerate().filter(|(at, _)| chosen(at));
    let mut fabrics: Vec<Fabric> = known.map(|(_, known)| Fabric::from(*known)).collect();
    match own(arguments) {
        Ok(own) => fabrics.extend(own),
        Err(error) => {
            writeln!(err, "error: {error}")?;
            return Ok(Exit::Usage);
        }
    }
    let document = Document::new(&step, &fabrics, arguments.iterations);
    match arguments.output {
        Output::Text => write(out, &document)?,
        Output::Json => {
            serde_json::to_writer_pretty(&mut *out, &document)?;
            writeln!(out)?;
        }
    }
    Ok(Exit::Clean)
}

/// The user's own nodes, if a rate is given.
fn own(arguments: &Arguments) -> Result<Option<Fabric>, String> {
    let Some(rate) = arguments.rate else { return Ok(None) };
    let profile = arguments.profile.as_deref().map(of_profile).transpose()?;
    let (rails, link) = profile.map_or((1, Some(Link::Roce)), |(rails, link)| (rails, link));
    let link = match arguments.transport {
        Some(Way::Infiniband) => Link::InfiniBand,
        Some(Way::Roce) => Link::Roce,
        Some(Way::Tcp) => Link::Tcp,
        None => link.ok_or(
            "no share of the line rate is published for the transport of this profile: set --transport",
        )?,
    };
    let rails = arguments.rails.unwrap_or(rails);
    let title = format!("{rails} x {rate:.0} Gb/s {}", link.title());
    Ok(Some(Fabric { id: "own".to_owned(), title, throughput: link.throughput(rate, rails) }))
}

/// Rails and transport of a compiled-in profile.
fn of_profile(name: &str) -> Result<(u32, Option<Link>), String> {
    let bases = input::profiles::bases()?;
    let found = bases.iter().find(|base| base.metadata.name == name);
    let Some(profile) = found else {
        let names: Vec<&str> = bases.iter().map(|base| base.metadata.name.as_str()).collect();
        return Err(format!("--profile {name:?} is not compiled in; known: {}", names.join(", ")));
    };
    let rails: u32 = profile.spec.rails.iter().flatten().map(|rail| rail.count.unwrap_or(1)).sum();
    let link = match profile.spec.transport {
        Some(Transport::Infiniband) => Some(Link::InfiniBand),
        Some(Transport::Roce) => Some(Link::Roce),
        Some(Transport::Ethernet) => Some(Link::Tcp),
        _ => None,
    };
    Ok((rails.max(1), link))
}

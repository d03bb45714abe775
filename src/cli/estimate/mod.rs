//! `estimate`: whether the network is the bottleneck of a training, by formulas.

mod arguments;
mod estimate_flag_of_review;
mod fabric_of_rate_profile_or_facts;

pub(super) use arguments::Arguments;
pub(super) use estimate_flag_of_review::{EstimateRequest, PodsToEstimate, parse_estimate_flag};

use super::Exit;
use crate::cli::lines_on_stderr::write_error;
use crate::cli::pretty_json::write_pretty_json;
use crate::estimate::{Document, FABRICS, Fabric, Step, write};
use arguments::Output;
use std::io::{self, Write};

pub(super) fn run(arguments: &Arguments, out: &mut dyn Write, err: &mut dyn Write) -> io::Result<Exit> {
    let step = Step {
        parameters: arguments.parameters,
        precision: arguments.precision.into(),
        gpus: arguments.gpus,
        compute: arguments.compute,
    };
    let all = arguments.fabric.is_empty() && arguments.rate.is_none() && arguments.facts.is_none();
    let chosen = |at: &usize| all || arguments.fabric.contains(at);
    let known = FABRICS.iter().enumerate().filter(|(at, _)| chosen(at));
    let mut fabrics: Vec<Fabric> = known.map(|(_, known)| Fabric::from(*known)).collect();
    if arguments.transport.is_some() && arguments.rate.is_none() && arguments.facts.is_none() {
        write_error(err, format_args!("--transport needs --rate or --facts"))?;
        return Ok(Exit::Usage);
    }
    match fabric_of_rate_profile_or_facts::fabric_of_rate_profile_or_facts(arguments) {
        Ok(own) => fabrics.extend(own),
        Err(error) => {
            write_error(err, format_args!("{error}"))?;
            return Ok(Exit::Usage);
        }
    }
    let document = Document::new(&step, &fabrics, arguments.iterations);
    match arguments.output {
        Output::Text => write(out, &document)?,
        Output::Json => {
            write_pretty_json(out, &document)?;
        }
    }
    Ok(Exit::Clean)
}

//! `review --estimate`: a line for each workload.

use super::arguments::{parse_compute_time, parse_line_rate};
use super::fabric_of_rate_profile_or_facts;
use crate::estimate::{Link, Precision, Step, one_line, parse_parameter_count};
use crate::profile::Profile;
use std::collections::BTreeMap;

/// What the flag asks for.
#[derive(Debug, Clone, Copy)]
pub(in crate::cli) struct EstimateRequest {
    parameters: f64,
    compute: f64,
    /// Line rate of a rail (Gb/s); without it, the one that the profile requires.
    rate: Option<f64>,
    precision: Precision,
}

const FORM: &str = "write parameters=7B,compute=1.2s,rate=400, and precision=fp32 if it is not bf16; rate is optional if the profile sets preflight.rate";

/// Reads the flag's value.
pub(in crate::cli) fn parse_estimate_flag(text: &str) -> Result<EstimateRequest, String> {
    let mut given = BTreeMap::new();
    for part in text.split(',') {
        let (key, value) = part.split_once('=').ok_or(FORM)?;
        if given.insert(key.trim(), value.trim()).is_some() {
            return Err(format!("{key} is given twice"));
        }
    }
    let mut take = |key| given.remove(key);
    let asked = EstimateRequest {
        parameters: parse_parameter_count(take("parameters").ok_or(FORM)?)?,
        compute: parse_compute_time(take("compute").ok_or(FORM)?)?,
        rate: take("rate").map(parse_line_rate).transpose()?,
        precision: match take("precision").unwrap_or("bf16") {
            "fp32" => Precision::Fp32,
            "fp16" => Precision::Fp16,
            "bf16" => Precision::Bf16,
            "fp8" => Precision::Fp8,
            _ => return Err("precision: write fp32, fp16, bf16 or fp8".to_owned()),
        },
    };
    if given.is_empty() { Ok(asked) } else { Err(FORM.to_owned()) }
}

/// What is known about the pods of one template.
#[derive(Debug, Clone, Copy)]
pub(in crate::cli) struct PodsToEstimate {
    gpus: u32,
    pods: Option<u64>,
    rails: u32,
    link: Option<Link>,
    /// Line rate that the profile requires of each port (Gb/s).
    rate: Option<u32>,
}

impl PodsToEstimate {
    /// A template whose pods have accelerators and get a profile.
    pub(in crate::cli) fn for_template_with_accelerators(
        gpus: u32,
        pods: Option<u64>,
        profile: &Profile,
    ) -> Option<Self> {
        let (rails, link) = fabric_of_rate_profile_or_facts::rails_and_link_of_profile(profile);
        let rate = profile.preflight.as_ref().and_then(|preflight| preflight.rate);
        (gpus > 0).then_some(Self { gpus, pods, rails, link, rate })
    }
}

impl EstimateRequest {
    /// The line for a workload, by its templates.
    pub(in crate::cli) fn estimate_workload_in_one_line(
        &self,
        templates: &[PodsToEstimate],
    ) -> Option<String> {
        let first = templates.first()?;
        let pods =
            templates.iter().try_fold(0_u64, |pods, template| Some(pods.saturating_add(template.pods?)));
        let Some(pods) = pods else { return Some("the number of pods is unknown".to_owned()) };
        let gpus = templates.iter().map(|t| t.pods.unwrap_or(0).saturating_mul(u64::from(t.gpus)));
        let gpus = u32::try_from(gpus.fold(0, u64::saturating_add)).unwrap_or(u32::MAX);
        let count = format!(
            "{gpus} GPUs in {}",
            crate::text::count_with_noun(usize::try_from(pods).unwrap_or(usize::MAX), "pod")
        );
        if pods < 2 {
            return Some(format!("{count}: nothing crosses the network"));
        }
        let Some(link) = first.link else {
            return Some(format!("{count}: no share of the line rate is published for this transport"));
        };
        let required = || templates.iter().filter_map(|template| template.rate).min().map(f64::from);
        let Some(rate) = self.rate.or_else(required) else {
            return Some(format!("{count}: the line rate is unknown; add rate=400 to --estimate"));
        };
        let rails = templates.iter().map(|template| template.rails).min().unwrap_or(1);
        let step =
            Step { parameters: self.parameters, precision: self.precision, gpus, compute: self.compute };
        let brief = one_line(&step, link.throughput(rate, rails));
        Some(format!("{count}, {}: {brief}", link.rails_in_words(rails, rate)))
    }
}

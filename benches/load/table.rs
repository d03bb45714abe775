//! The results of rounds, as a table and as JSON.

use crate::driver::Outcome;
use serde_json::{Value, json};

/// The quantiles that are shown.
const QUANTILES: [(&str, f64); 4] = [("p50", 0.5), ("p99", 0.99), ("p99.9", 0.999), ("max", 1.0)];

/// A round of one scenario.
pub(crate) struct Round {
    pub(crate) outcome: Outcome,
    pub(crate) requests: usize,
    /// CPU time of the server (seconds), and how often its threads were switched, if the process is known.
    pub(crate) server: Option<(f64, u64)>,
    /// A list of nodes was in progress when the first request was planned, and after the last answer.
    pub(crate) listing: Option<(bool, bool)>,
    /// Seconds that the round took.
    pub(crate) took: f64,
}

/// The rounds of a scenario, and its place among the others.
pub(crate) struct Scenario {
    pub(crate) name: String,
    pub(crate) about: Value,
    /// Scenarios of a group are compared with the first of them.
    pub(crate) group: String,
    pub(crate) rounds: Vec<Round>,
    /// Resident memory now, and its peak (MiB).
    pub(crate) memory: Option<(f64, f64)>,
}

/// The middle of several values, with the least and the greatest.
#[derive(Debug, Clone, Copy)]
struct Spread {
    median: f64,
    least: f64,
    most: f64,
}

impl Spread {
    fn of(values: impl Iterator<Item = f64>) -> Option<Self> {
        let mut values: Vec<f64> = values.collect();
        values.sort_by(f64::total_cmp);
        let (least, most) = (*values.first()?, *values.last()?);
        Some(Self { median: values[values.len() / 2], least, most })
    }

    fn json(self) -> Value {
        json!({"median": self.median, "min": self.least, "max": self.most})
    }

    fn text(self, digits: usize) -> String {
        format!("{:.digits$} ({:.digits$}-{:.digits$})", self.median, self.least, self.most)
    }
}

impl Scenario {
    /// Milliseconds.
    fn latency(&self, quantile: f64) -> Option<Spread> {
        let rounds = self.rounds.iter().filter(|round| round.requests > 0);
        Spread::of(rounds.map(|round| round.outcome.latency.value_at_quantile(quantile) as f64 / 1e6))
    }

    /// How late the client was in 99 of 100 requests (milliseconds).
    fn late(&self) -> Option<Spread> {
        let rounds = self.rounds.iter().filter(|round| round.requests > 0);
        Spread::of(rounds.map(|round| round.outcome.late.value_at_quantile(0.99) as f64 / 1e6))
    }

    /// CPU time of the server per request (microseconds). At a rate of 0: per second.
    fn cpu(&self) -> Option<Spread> {
        Spread::of(self.rounds.iter().filter_map(|round| {
            let per = if round.requests == 0 { round.took } else { round.requests as f64 };
            Some(round.server?.0 * 1e6 / per)
        }))
    }

    fn switches(&self) -> Option<Spread> {
        Spread::of(self.rounds.iter().filter_map(|round| {
            let per = if round.requests == 0 { round.took } else { round.requests as f64 };
            Some(round.server?.1 as f64 / per)
        }))
    }

    /// CPU time against another scenario, round by round.
    fn against(&self, other: &Self, value: impl Fn(&Round) -> Option<f64>) -> Option<Spread> {
        let pairs = self.rounds.iter().zip(&other.rounds);
        Spread::of(pairs.filter_map(|(one, other)| {
            let (one, other) = (value(one)?, value(other)?);
            (other > 0.0).then_some(one / other)
        }))
    }

    fn cpu_against(&self, other: &Self) -> Option<Spread> {
        self.against(other, |round| Some(round.server?.0))
    }

    fn median_against(&self, other: &Self) -> Option<Spread> {
        self.against(other, |round| {
            (round.requests > 0).then(|| round.outcome.latency.value_at_quantile(0.5) as f64)
        })
    }

    fn failed(&self) -> usize {
        self.rounds.iter().map(|round| round.outcome.failed).sum()
    }

    fn json(&self, baseline: &Self) -> Value {
        let spread = |spread: Option<Spread>| spread.map(Spread::json);
        let quantiles =
            QUANTILES.map(|(name, quantile)| (name.to_owned(), spread(self.latency(quantile)).into()));
        json!({
            "name": self.name,
            "about": self.about,
            "requests": self.rounds.iter().map(|round| round.requests).sum::<usize>(),
            "rounds": self.rounds.len(),
            "latency_ms": quantiles.into_iter().collect::<serde_json::Map<_, _>>(),
            "took_seconds": spread(Spread::of(self.rounds.iter().map(|round| round.outcome.took.as_secs_f64()))),
            "client_late_p99_ms": spread(self.late()),
            "cpu_us_per_request": spread(self.cpu()),
            "switches_per_request": spread(self.switches()),
            "baseline": baseline.name,
            "cpu_ratio": spread(self.cpu_against(baseline)),
            "p50_ratio": spread(self.median_against(baseline)),
            "connections_opened": self.rounds.iter().map(|round| round.outcome.opened).sum::<usize>(),
            "failed": self.failed(),
            "answer_bytes": self.rounds.iter().map(|round| round.outcome.answer).max(),
            "listing_before_and_after":
                self.rounds.iter().filter_map(|round| round.listing).collect::<Vec<_>>(),
            "memory_mib": self.memory.map(|(now, peak)| json!({"now": now, "peak": peak})),
        })
    }
}

fn baseline<'a>(all: &'a [Scenario], of: &'a Scenario) -> &'a Scenario {
    all.iter().find(|other| other.group == of.group).unwrap_or(of)
}

/// The table: medians of the rounds, with the least and the greatest.
pub(crate) fn table(all: &[Scenario]) -> String {
    let burst = all.iter().any(|scenario| scenario.about["burst"].is_u64());
    let last = if burst { "all answers after, ms" } else { "switches" };
    let columns = [
        "scenario",
        "p50, ms",
        "p99, ms",
        "max, ms",
        "CPU, µs",
        "CPU, ratio",
        "p50, ratio",
        last,
        "memory (peak), MiB",
    ];
    let mut text = format!("| {} |\n|{}\n", columns.join(" | "), " --- |".repeat(columns.len()));
    for scenario in all {
        let spread =
            |spread: Option<Spread>, digits| spread.map_or("-".to_owned(), |spread| spread.text(digits));
        let median = |spread: Option<Spread>, digits: usize| {
            spread.map_or("-".to_owned(), |spread| format!("{:.digits$}", spread.median))
        };
        let first = baseline(all, scenario);
        let took = Spread::of(scenario.rounds.iter().map(|round| round.outcome.took.as_secs_f64() * 1e3));
        let row = [
            scenario.name.clone(),
            spread(scenario.latency(0.5), 2),
            spread(scenario.latency(0.99), 2),
            median(scenario.latency(1.0), 1),
            spread(scenario.cpu(), 0),
            spread(scenario.cpu_against(first), 2),
            median(scenario.median_against(first), 2),
            if burst { spread(took, 0) } else { median(scenario.switches(), 1) },
            scenario.memory.map_or("-".to_owned(), |(now, peak)| format!("{now:.0} ({peak:.0})")),
        ];
        text.push_str(&format!("| {} |\n", row.join(" | ")));
    }
    text
}

/// What a reader must know beside the table: failures, a client that was late, lists that ended too early.
pub(crate) fn notes(all: &[Scenario]) -> String {
    let mut text = String::new();
    for scenario in all {
        let mut notes = Vec::new();
        // In a burst, all requests but the first wait for a connection.
        let burst = scenario.about["burst"].is_u64();
        if let Some(late) = scenario.late().filter(|late| !burst && late.median > 0.2) {
            notes.push(format!("the client sent late: p99 {:.2} ms", late.median));
        }
        let listings: Vec<_> = scenario.rounds.iter().filter_map(|round| round.listing).collect();
        if !listings.is_empty() {
            let whole = listings.iter().filter(|(before, after)| *before && *after).count();
            notes.push(format!(
                "the list of nodes lasted longer than the burst in {whole} of {} rounds",
                listings.len()
            ));
        }
        if scenario.failed() > 0 {
            notes.push(format!("{} requests failed", scenario.failed()));
        }
        notes.extend(scenario.rounds.iter().find_map(|round| round.outcome.first_failure.clone()));
        if !notes.is_empty() {
            text.push_str(&format!("{}: {}\n", scenario.name, notes.join("; ")));
        }
    }
    text
}

/// Puts a table into a page, between the marks of its name.
pub(crate) fn into_page(page: &str, name: &str, all: &[Scenario], machine: &Value) -> Result<String, String> {
    let (begin, end) = (format!("<!-- measured: {name} -->\n"), "<!-- end -->");
    let (before, rest) = page.split_once(&begin).ok_or_else(|| format!("the page lacks {begin}"))?;
    let (_, after) = rest.split_once(end).ok_or_else(|| format!("the page lacks {end}"))?;
    let word = |key: &str| machine[key].as_str().unwrap_or_default().to_owned();
    let load = word("load").split(' ').next().unwrap_or_default().to_owned();
    let rounds = all.iter().map(|scenario| scenario.rounds.len()).max().unwrap_or_default();
    let line = format!(
        "Measured in {rounds} rounds on {} with {} cores, Linux {} and a load of {load} at the start.",
        word("cpu"),
        machine["cores"],
        word("kernel"),
    );
    Ok(format!("{before}{begin}\n{}\n{line}\n\n{end}{after}", table(all)))
}

pub(crate) fn json(all: &[Scenario], machine: &Value) -> Value {
    let results: Vec<Value> = all.iter().map(|scenario| scenario.json(baseline(all, scenario))).collect();
    json!({"machine": machine, "results": results})
}

//! The engine beside the server: the same facts, no socket between.

use super::fabrics::{FABRICS, Fabrics, profiles};
use super::with_and_without_webhook::Review;
use crate::support::generated_world::World;
use crate::support::round_trip::documents;
use fabric_admission::facts::EnforcementMode;
use fabric_admission::review::Stage;
use fabric_admission::rules::Severity;
use serde_json::{Value, json};

/// One for each pair of namespaces.
pub(crate) struct Engine(Vec<World>);

impl Engine {
    pub(crate) fn new(fabrics: &Fabrics<'_>) -> Result<Self, String> {
        let profiles: Vec<Value> = documents(profiles().as_bytes()).into_iter().map(|(_, p)| p).collect();
        let world = |asked: &String| {
            World::new(
                &json!({"profiles": profiles, "objects": fabrics.namespaces, "namespace": {"name": asked}}),
            )
        };
        let worlds: Vec<World> = fabrics.pairs.iter().map(|pair| world(&pair.asked)).collect();
        let known = worlds.iter().all(|w| w.snapshot.profiles().count() == FABRICS.len());
        if known { Ok(Self(worlds)) } else { Err("the engine does not know every profile".to_owned()) }
    }

    /// What it says of a pod of the asked namespace of a pair.
    pub(crate) fn review(&self, pair: usize, pod: &Value) -> Result<Review, String> {
        let decision = self.0[pair]
            .decide_as(pod, Stage::Whole, EnforcementMode::Enforce)
            .ok_or("the engine cannot read what the API server takes")?;
        let errors = decision.findings.iter().filter(|f| f.severity == Severity::Error);
        let patch = decision.patch.text();
        Ok(Review {
            denies: errors.map(|f| f.rule.to_owned()).collect(),
            patch: serde_json::from_str(patch).map_err(|e| e.to_string())?,
        })
    }
}

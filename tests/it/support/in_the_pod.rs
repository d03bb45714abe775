//! Profiles that add containers to pods.

use super::generated_documents::{Dice, put};
use serde_json::{Value, json};

/// Image of the containers that a profile adds.
pub(crate) const IMAGE: &str = "registry.example.com/fabric-admission@sha256:4f6d1d1e7b0a3c5e9d8f7a6b5c4d3e2f1a0b9c8d7e6f5a4b3c2d1e0f9a8b7c6d";

/// Containers that a profile adds.
pub(crate) fn profile(spec: &mut Value, dice: &mut Dice<'_>) {
    put(spec, "preflight", 20, dice, |dice| {
        let mut preflight = json!({"image": IMAGE});
        put(&mut preflight, "install", 30, dice, |_| "imageVolume".into());
        put(&mut preflight, "checks", 30, dice, |_| json!({"PF101": "skip"}));
        preflight
    });
    put(spec, "monitor", 20, dice, |dice| {
        let mut monitor = json!({"image": IMAGE});
        put(&mut monitor, "port", 30, dice, |dice| dice.pick(&[8080, 29500]).into());
        put(&mut monitor, "scrape", 30, dice, |_| "none".into());
        monitor
    });
}

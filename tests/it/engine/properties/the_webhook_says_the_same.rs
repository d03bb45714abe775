//! The webhook's answer has the same decision as a review, within the bounds of the API server.

use super::any_bytes_are_answered::review;
use crate::support::generated_world::World;
use fabric_admission::decision_limits::NEVER;
use fabric_admission::facts::EnforcementMode;
use fabric_admission::pod::prescan_for_fabric_signs::may_have_fabric_signs;
use fabric_admission::review::decide_webhook_request::{
    SnapshotForAudience, WebhookEntry, decide_body_within_deadline,
};
use fabric_admission::review::{Decision, Stage, admission_response, admission_review};
use fabric_admission::snapshot::Audience;
use serde_json::Value;

pub(super) fn webhook_agrees(world: &World) -> Result<(), String> {
    if world.namespace != "team" || world.profile.is_some() {
        return Ok(());
    }
    let uid = format!("{}-\u{e9}\"\\", world.pod.to_string().len());
    let body = review(&uid, &world.pod);
    for (entry, stage, mode) in [
        (WebhookEntry::Mutate, Stage::Mutate, EnforcementMode::Enforce),
        (WebhookEntry::Validate, Stage::Final, EnforcementMode::Enforce),
        (WebhookEntry::Audit, Stage::Whole, EnforcementMode::Audit),
    ] {
        let known = SnapshotForAudience { snapshot: &world.snapshot, audience: Audience::Tenant };
        let answered = decide_body_within_deadline(&body, entry, known, &NEVER);
        match (answered, world.decide_as(&world.pod, stage, mode)) {
            (Ok(outcome), Some(mut decision)) => {
                let answer = admission_response::render(&outcome);
                let answer: Value = serde_json::from_slice(&answer).map_err(|e| e.to_string())?;
                answer_fits(&answer["response"], &uid, &decision)?;
                if entry != WebhookEntry::Mutate {
                    decision.patch.clear();
                }
                let (webhook, direct) = (format!("{:?}", outcome.decision), format!("{decision:?}"));
                if webhook != direct {
                    return Err(format!("webhook {webhook}\ndirect {direct}"));
                }
            }
            (Err(admission_review::RequestError::Object(_)), None) => {}
            (Err(admission_review::RequestError::NoObject), _) if world.pod.is_null() => {}
            // A pod without any sign of a fabric is admitted undecoded.
            (Ok(outcome), None) if !may_have_fabric_signs(&world.pod.to_string()) => {
                if outcome.decision.in_scope {
                    return Err(format!("webhook {outcome:?}"));
                }
            }
            (outcome, decision) => return Err(format!("webhook {outcome:?}\ndirect {decision:?}")),
        }
    }
    Ok(())
}

/// Bounds of an answer, which the API server and kubectl set.
fn answer_fits(response: &Value, uid: &str, decision: &Decision) -> Result<(), String> {
    let message = response["status"]["message"].as_str();
    let first = message.and_then(|m| m.lines().next()).unwrap_or_default();
    let none = Vec::new();
    let warnings = response["warnings"].as_array().unwrap_or(&none);
    let short = |w: &Value| {
        w.as_str().is_some_and(|w| !w.is_empty() && w.chars().count() < 200 && !w.contains(char::is_control))
    };
    let fits = response["uid"] == uid
        && response["allowed"] == !decision.denied
        && response["patch"].is_string() == (response["patchType"] == "JSONPatch")
        && decision.denied == message.is_some()
        && message.is_none_or(|m| m.len() <= 8192 && first.len() <= 300)
        && warnings.len() <= 15
        && warnings.iter().all(short);
    if fits { Ok(()) } else { Err(format!("answer {response}")) }
}

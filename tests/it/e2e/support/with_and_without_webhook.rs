//! The result for a pod: without the webhook, with the webhook, by the offline review, and once more from its dump.
//!
//! Nothing here knows what kinds of change there are: a patch is applied as RFC 6902 and compared as stored.

use super::creates::Creator;
use super::fabrics::Pair;
use super::stored::{comparable, difference, exact};
use serde_json::{Map, Value};
use std::collections::BTreeSet;

/// What the engine says of a pod.
#[derive(Debug, Default, Clone)]
pub(crate) struct Review {
    /// Rules that deny it; empty where it is allowed.
    pub(crate) denies: BTreeSet<String>,
    /// RFC 6902.
    pub(crate) patch: Value,
}

#[derive(Debug)]
pub(crate) enum Fate {
    /// The API server refuses it whatever we do.
    RefusedBare(String),
    /// Our own rules refuse it, online as offline.
    Denied(BTreeSet<String>),
    /// Stored as it came.
    Unchanged,
    /// Stored as the engine says.
    Patched(Value),
}

/// Applies a patch as the API server does.
pub(crate) fn patched(object: &Value, patch: &Value) -> Result<Value, String> {
    let operations: json_patch::Patch =
        serde_json::from_value(patch.clone()).map_err(|e| format!("no RFC 6902: {e}: {patch}"))?;
    let mut object = object.clone();
    json_patch::patch(&mut object, &operations)
        .map_err(|e| format!("the patch does not apply: {e}: {patch}"))?;
    Ok(object)
}

fn is_empty(patch: &Value) -> bool {
    patch.as_array().is_none_or(Vec::is_empty)
}

/// Follows a pod; an error is a bug of fabric-admission. What `offline` says of the pod as its author wrote it, and `engine` of it
/// as stored, are held against what the webhook does.
pub(crate) fn fate(
    api: &mut Creator<'_>,
    pair: &Pair,
    pod: &Value,
    offline: &dyn Fn(&Value) -> Result<Review, String>,
    engine: &dyn Fn(&Value) -> Result<Review, String>,
) -> Result<Fate, String> {
    let bare = match api.create(&pair.plain, pod)? {
        Ok(bare) => bare,
        Err(why) => return Ok(Fate::RefusedBare(why)),
    };
    let offline = offline(pod)?;
    let online = match (api.create(&pair.asked, pod)?, offline.denies.is_empty()) {
        (Ok(online), true) => online,
        (Ok(_), false) => return Err(format!("accepted, and offline {:?} deny it", offline.denies)),
        (Err(why), denied) => {
            let ours = why.contains("fabric-admission.dev\" denied the request");
            let reported: BTreeSet<String> =
                offline.denies.iter().filter(|r| why.contains(r.as_str())).cloned().collect();
            if ours && !denied && !reported.is_empty() {
                return not_by_our_change(pod, offline.denies, engine);
            }
            return Err(format!("accepted without us and REFUSED with us: {why}\npatch: {}", offline.patch));
        }
    };
    // The offline patch of the pod as its author wrote it gives the same once both are defaulted.
    let expected = api
        .create(&pair.plain, &patched(pod, &offline.patch)?)?
        .map_err(|why| format!("the offline patch is REFUSED: {why}\npatch: {}", offline.patch))?;
    if let Some(difference) = difference(&comparable(&expected), &comparable(&online)) {
        return Err(format!("online is not as offline:\n{difference}"));
    }
    // The patch of the defaulted pod, which is what the webhook sees, gives the same to the letter.
    let seen = engine(&bare)?;
    let expected = api
        .create(&pair.plain, &patched(&bare, &seen.patch)?)?
        .map_err(|why| format!("the patch of the defaulted pod is REFUSED: {why}\npatch: {}", seen.patch))?;
    if let Some(difference) = difference(&exact(&expected), &exact(&online)) {
        return Err(format!("online is not as the engine says:\n{difference}"));
    }
    // And the dump of what is stored, made again, is unchanged.
    let second = engine(&online)?;
    if !is_empty(&second.patch) || !second.denies.is_empty() {
        return Err(format!("the stored pod is changed again: {second:?}"));
    }
    let again = api.create(&pair.asked, &online)?.map_err(|why| format!("the dump is REFUSED: {why}"))?;
    if let Some(difference) = difference(&exact(&online), &exact(&again)) {
        return Err(format!("the dump made again is another pod:\n{difference}"));
    }
    Ok(if is_empty(&offline.patch) { Fate::Unchanged } else { Fate::Patched(patched(pod, &offline.patch)?) })
}

/// Networks and devices that do not fit each other are the author's, never what we would add: who opts out of changes
/// is denied by the same rules. Others judge what the author wrote beside the profile, where it is applied.
fn not_by_our_change(
    pod: &Value,
    denies: BTreeSet<String>,
    engine: &dyn Fn(&Value) -> Result<Review, String>,
) -> Result<Fate, String> {
    let mut as_it_is = pod.clone();
    if !as_it_is["metadata"]["annotations"].is_object() {
        as_it_is["metadata"]["annotations"] = Value::Object(Map::new());
    }
    as_it_is["metadata"]["annotations"]["fabric-admission.dev/inject"] = "false".into();
    let own = engine(&as_it_is)?.denies;
    match denies.difference(&own).find(|rule| rule.starts_with("FAB1") || rule.starts_with("FAB2")) {
        None => Ok(Fate::Denied(denies)),
        Some(rule) => Err(format!("{rule} denies the pod for what we would add to it")),
    }
}

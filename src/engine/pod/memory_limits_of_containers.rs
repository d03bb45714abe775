//! Memory limits: of containers, and of the pod as a whole.

use super::pod_fields::{Container, PodView};
use crate::json::quantity::Quantity;
use crate::json::types_of_decoded_fields::Quantities;

fn memory(limits: Option<&Quantities<'_>>) -> Option<i64> {
    let text = limits?.get("memory")?;
    Quantity::parse(&text.0).ok().map(Quantity::units_rounded_up).filter(|n| *n > 0)
}

/// The memory that containers of a pod may use together (bytes): their own limits if each has one, and never more
/// than the pod's limit, which is the only limit for a container without one (kubernetes/enhancements KEP-2837).
#[must_use]
pub fn memory_limit_of_containers_together<'a, 'b: 'a>(
    pod: &PodView<'_>,
    containers: impl IntoIterator<Item = &'a Container<'b>>,
) -> Option<i64> {
    let whole = memory(pod.spec.as_ref().and_then(|s| s.resources.as_ref()?.limits.as_ref()));
    let mut own = containers.into_iter().map(|c| memory(c.limits()));
    let sum = own.try_fold(0_i64, |sum, limit| limit.map(|l| sum.saturating_add(l)));
    match (sum.filter(|n| *n > 0), whole) {
        (Some(sum), Some(whole)) => Some(sum.min(whole)),
        (sum, whole) => sum.or(whole),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_pods_limit_holds_for_containers_without_one() {
        let limit = |pod: &str, containers: &[&str]| {
            let memory = |m: &str| format!(r#""resources":{{"limits":{{"memory":{m}}}}}"#);
            let all: Vec<String> = containers.iter().map(|c| format!("{{{}}}", memory(c))).collect();
            let json = format!(r#"{{"spec":{{{},"containers":[{}]}}}}"#, memory(pod), all.join(","));
            let pod: PodView<'_> = serde_json::from_str(&json).unwrap();
            memory_limit_of_containers_together(&pod, pod.containers())
        };
        assert_eq!(limit("null", &["4", "3"]), Some(7));
        assert_eq!(limit("null", &["4", "null"]), None);
        assert_eq!(limit("9", &["4", "null"]), Some(9));
        assert_eq!(limit("5", &["4", "3"]), Some(5));
        assert_eq!(limit("0", &["0", "\"x\""]), None);
        assert_eq!(limit("null", &[]), None);
    }
}

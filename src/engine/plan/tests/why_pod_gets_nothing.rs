use super::{Case, gpu};
use serde_json::{Value, json};

#[test]
fn missing_objects_are_reported_when_there_is_no_room_to_inject() {
    let mut case = Case::new();
    case.listed = true;
    let missing = case.plan().missing;
    assert_eq!(missing, [crate::resolve::MissingNetworkOrResource::Network("default/net".to_owned())]);
    case.annotation("note", &"x".repeat((256 << 10) - 4));
    let plan = case.plan();
    assert_eq!(plan.withheld, Some(crate::plan::WhyNothingPlanned::NoRoom));
    assert_eq!(plan.missing, missing);
}

#[test]
fn a_pod_of_more_containers_than_a_node_runs_gets_nothing() {
    let most = crate::plan::MAX_CONTAINERS;
    for (count, withheld) in [(most, None), (most + 1, Some(crate::plan::WhyNothingPlanned::ManyContainers))]
    {
        let mut case = Case::new();
        let plain = |n: usize| json!({"name": format!("c{n}"), "image": "x"});
        case.pod["spec"]["containers"] =
            (0..count).map(|n| if n == 0 { gpu("c0") } else { plain(n) }).collect();
        let plan = case.plan();
        assert_eq!(plan.withheld, withheld, "{count}");
        assert_eq!(plan.changes.is_empty(), withheld.is_some(), "{count}");
    }
}

#[test]
fn a_profile_is_written_for_so_many_targets() {
    let env = |variables: usize, length: usize| -> Value {
        (0..variables).map(|i| json!({"name": format!("NCCL_V{i}"), "value": "v".repeat(length)})).collect()
    };
    // A pod of a real node always gets its profile.
    for (env, least, most) in [(env(20, 60), 110, 300), (env(100, 4096), 16, 16)] {
        let mut case = Case::new();
        case.spec["env"] = env;
        let most_targets = crate::plan::patch_size_limit::most_targets(&case.profile());
        assert!((least..=most).contains(&most_targets), "{most_targets}");
        for (targets, fits) in [(most_targets, true), (most_targets + 1, false)] {
            case.pod["spec"]["containers"] = (0..targets).map(|n| gpu(&format!("c{n}"))).collect();
            let plan = case.plan();
            let withheld = (!fits)
                .then_some(crate::plan::WhyNothingPlanned::ManyTargets { targets, most: most_targets });
            assert_eq!((plan.withheld, plan.changes.is_empty()), (withheld, !fits), "{targets}");
        }
    }
}

#[test]
fn a_pod_over_a_limit_gets_nothing() {
    let most = crate::pod::limits_and_costs_of_pods::MAX_NODE_SELECTOR;
    for (count, withheld) in [(most, None), (most + 1, Some(crate::plan::WhyNothingPlanned::OverLimit))] {
        let mut case = Case::new();
        let selector: serde_json::Map<_, _> = (0..count).map(|n| (format!("k{n}"), "v".into())).collect();
        case.pod["spec"]["nodeSelector"] = selector.into();
        let plan = case.plan();
        assert_eq!(plan.withheld, withheld, "{count}");
        assert_eq!(plan.changes.is_empty(), withheld.is_some(), "{count}");
    }
}

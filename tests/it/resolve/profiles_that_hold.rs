//! Every combination of two profiles, nodes and a pod, compared with what docs/adr/0022 says node by node.

use crate::support::generated_world::World;
use crate::support::suite::Suite;
use fabric_admission::rules::Severity;
use serde_json::{Value, json};

pub(crate) fn add(suite: &mut Suite) {
    suite.add("profiles_that_hold::what_is_forbidden_on_a_node_is_refused_on_the_way_to_it", || Ok(all()?));
    suite.add("profiles_that_hold::the_answer_is_the_same_before_a_pool_grows", || Ok(grown()?));
    suite.add("profiles_that_hold::values_of_a_profile_count_on_its_own_nodes", || Ok(values()?));
}

/// The nodes that a profile is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum For {
    /// Only pods that name it.
    Nobody,
    /// Nodes with the label `pool: a`, or `pool: b`.
    Pool(&'static str),
}

impl For {
    fn carries(self, pool: &str) -> bool {
        self == Self::Pool(match pool {
            "a" => "a",
            "b" => "b",
            _ => "",
        })
    }
}

const LAX: [For; 3] = [For::Nobody, For::Pool("a"), For::Pool("b")];
/// Of the lax profile; that of the strict one, for pool `a`, is 0.
const PRIORITIES: [i32; 3] = [-1, 0, 1];
const NODES: [&[&str]; 6] = [&["a"], &["b"], &["plain"], &["a", "b"], &["a", "plain"], &["a", "b", "plain"]];
/// What the pod asks for: a pool, or nothing.
const ASKED: [Option<&str>; 3] = [None, Some("a"), Some("b")];

pub(super) fn profile(name: &str, of: For, priority: i32, spec: Value) -> Value {
    let mut object = json!({"apiVersion": "fabric-admission.dev/v1alpha1", "kind": "FabricProfile", "metadata": {"name": name},
        "spec": {"transport": "ethernet", "attachment": "none", "priority": priority}});
    if let For::Pool(pool) = of {
        object["spec"]["nodeSelector"] = json!({"matchLabels": {"pool": pool}});
    }
    if let Some(spec) = spec.as_object() {
        for (key, value) in spec {
            object["spec"][key] = value.clone();
        }
    }
    object
}

pub(super) fn node(pool: &str, accelerators: &str) -> Value {
    json!({"apiVersion": "v1", "kind": "Node", "metadata": {"name": pool, "labels": {"pool": pool}},
        "status": {"allocatable": {accelerators: "8"}}})
}

fn decide(lax: For, priority: i32, nodes: &[Value], asked: Option<&str>) -> Result<bool, String> {
    let mut pod = json!({"metadata": {"name": "p", "annotations": {"fabric-admission.dev/profile": "lax"}}, "spec": {
        "containers": [{"name": "t", "image": "i", "env": [{"name": "NCCL_ALGO", "value": "Ring"}],
            "resources": {"limits": {"nvidia.com/gpu": 8}}}]}});
    if let Some(pool) = asked {
        pod["spec"]["nodeSelector"] = json!({"pool": pool});
    }
    let world = World::new(&json!({
        "pod": pod, "objects": nodes,
        "profiles": [profile("lax", lax, priority, json!({})),
            profile("strict", For::Pool("a"), 0, json!({"env": [{"name": "NCCL_ALGO", "policy": "forbid"}]}))],
    }));
    let decision = world.decide().ok_or("the pod cannot be read")?;
    Ok(decision.findings.iter().any(|f| f.rule == "FAB403"))
}

/// Whether the strict profile holds on a node.
fn holds(lax: For, priority: i32, pool: &str) -> bool {
    let replaced = match lax {
        For::Nobody => priority > 0,
        of => of.carries(pool) && priority >= 0,
    };
    For::Pool("a").carries(pool) && !replaced
}

fn fits(asked: Option<&str>, pool: &str) -> bool {
    asked.is_none_or(|asked| asked == pool)
}

fn all() -> Result<(), String> {
    let mut refused = 0;
    for lax in LAX {
        for priority in PRIORITIES {
            for pools in NODES {
                for asked in ASKED {
                    let nodes: Vec<Value> = pools.iter().map(|pool| node(pool, "nvidia.com/gpu")).collect();
                    // Where no node fits the pod, its pool is at zero; the other trial looks at that.
                    if !pools.iter().any(|pool| fits(asked, pool)) {
                        continue;
                    }
                    let expected = pools.iter().any(|pool| fits(asked, pool) && holds(lax, priority, pool));
                    let actual = decide(lax, priority, &nodes, asked)?;
                    refused += usize::from(actual);
                    if actual != expected {
                        return Err(format!(
                            "{lax:?} {priority} on {pools:?}, asked {asked:?}: refused {actual}"
                        ));
                    }
                }
            }
        }
    }
    if refused > 30 { Ok(()) } else { Err(format!("only {refused} were refused")) }
}

/// With no node but a control plane: a pod that asks for one pool is judged as when the pool has nodes, and any other pod is
/// refused at least where it would be then.
fn grown() -> Result<(), String> {
    for lax in LAX {
        for priority in PRIORITIES {
            for asked in ASKED {
                let at_zero = decide(lax, priority, &[node("control-plane", "cpu")], asked)?;
                for pools in [&["a"][..], &["b"], &["a", "b"]] {
                    if !pools.iter().any(|pool| fits(asked, pool)) {
                        continue;
                    }
                    let nodes: Vec<Value> = pools.iter().map(|pool| node(pool, "nvidia.com/gpu")).collect();
                    let later = decide(lax, priority, &nodes, asked)?;
                    if (asked.is_some() && later != at_zero) || (later && !at_zero) {
                        return Err(format!(
                            "{lax:?} {priority}, asked {asked:?}: refused {at_zero} at zero, {later} with {pools:?}"
                        ));
                    }
                }
            }
        }
    }
    Ok(())
}

/// A pool, its traffic class, and its algorithm, if it does not forbid the variable. The profile of each pool is for the nodes
/// of this pool.
const POOLS: [(&str, &str, Option<&str>); 3] =
    [("strict", "106", None), ("other", "96", Some("Ring")), ("third", "7", None)];

/// The profiles of the pools, and one that only pods which name it have.
fn of_pools() -> Vec<Value> {
    let env = |class: &str, algorithm: Option<&str>| {
        let algorithm = match algorithm {
            Some(value) => json!({"name": "NCCL_ALGO", "value": value}),
            None => json!({"name": "NCCL_ALGO", "policy": "forbid"}),
        };
        json!([{"name": "NCCL_IB_TC", "value": class, "policy": "require"}, algorithm])
    };
    let of_pool = |(name, class, algorithm): (&str, &str, Option<&str>)| {
        let spec = json!({"nodeSelector": {"matchLabels": {"pool": name}}, "env": env(class, algorithm)});
        profile(name, For::Nobody, 0, spec)
    };
    let lax = profile("lax", For::Nobody, 0, json!({}));
    POOLS.into_iter().map(of_pool).chain([lax]).collect()
}

/// Whether a profile refuses the values of a pod, and does not allow them because another profile `named` sets them.
fn refuses(
    (name, class, algorithm): (&str, &str, Option<&str>),
    named: &str,
    [has_class, has_algorithm]: [Option<&str>; 2],
) -> bool {
    let own = POOLS.into_iter().find(|(pool, ..)| *pool == named && named != name);
    let class_refused = has_class.is_some_and(|has| has != class && own.is_none_or(|own| own.1 != has));
    let algorithm_refused =
        has_algorithm.is_some_and(|has| algorithm.is_none() && own.is_none_or(|own| own.2 != Some(has)));
    class_refused || algorithm_refused
}

/// Values of a pod, the profile that it names, and the pools that it can run on. A pod that names no profile is refused if it
/// would be refused with every name of these pools.
fn values() -> Result<(), String> {
    let mut refused = [0, 0];
    for class in [None, Some("106"), Some("96"), Some("7"), Some("0")] {
        for algorithm in [None, Some("Ring"), Some("Tree")] {
            for subset in 1..8_usize {
                let pools: Vec<_> =
                    (0..3).filter(|nth| subset & (1 << nth) != 0).map(|nth| POOLS[nth]).collect();
                let on_any = |named: &str| {
                    let own = POOLS.into_iter().filter(|(pool, ..)| *pool == named);
                    let mut all = pools.iter().copied().chain(own);
                    all.any(|pool| refuses(pool, named, [class, algorithm]))
                };
                for named in ["lax", "strict", "other", "third", ""] {
                    let actual = decide_values(named, &pools, [class, algorithm])?;
                    let expected = match named {
                        "" => pools.iter().all(|(pool, ..)| on_any(pool)),
                        named => on_any(named),
                    };
                    refused[usize::from(named.is_empty())] += usize::from(actual);
                    if actual != expected {
                        return Err(format!(
                            "{class:?} {algorithm:?} named {named:?} on {pools:?}: refused {actual}"
                        ));
                    }
                }
            }
        }
    }
    if refused.iter().all(|n| *n > 30) { Ok(()) } else { Err(format!("only {refused:?} were refused")) }
}

fn decide_values(
    named: &str,
    pools: &[(&str, &str, Option<&str>)],
    [class, algorithm]: [Option<&str>; 2],
) -> Result<bool, String> {
    let given = [("NCCL_IB_TC", class), ("NCCL_ALGO", algorithm)].into_iter();
    let env: Vec<Value> =
        given.filter_map(|(name, value)| Some(json!({"name": name, "value": value?}))).collect();
    let mut pod = json!({"metadata": {"name": "p"}, "spec": {"containers": [{"name": "t", "image": "i", "env": env,
        "resources": {"limits": {"nvidia.com/gpu": 8}}}]}});
    if !named.is_empty() {
        pod["metadata"]["annotations"] = json!({"fabric-admission.dev/profile": named});
    }
    let nodes: Vec<Value> = pools.iter().map(|(pool, ..)| node(pool, "nvidia.com/gpu")).collect();
    let world = World::new(&json!({"pod": pod, "objects": nodes, "profiles": of_pools()}));
    let decision = world.decide().ok_or("the pod cannot be read")?;
    Ok(decision.findings.iter().any(|f| f.rule == "FAB403" && f.severity == Severity::Error))
}

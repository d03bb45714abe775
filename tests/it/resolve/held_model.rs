//! Every combination of two profiles, nodes and a pod, compared with what docs/adr/0022 says node by node.

use crate::support::suite::Suite;
use crate::support::world::World;
use serde_json::{Value, json};

pub(crate) fn add(suite: &mut Suite) {
    suite.add("held_model::what_is_forbidden_on_a_node_is_refused_on_the_way_to_it", || Ok(all()?));
    suite.add("held_model::the_answer_is_the_same_before_a_pool_grows", || Ok(grown()?));
}

/// The nodes that a profile is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum For {
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

fn profile(name: &str, of: For, priority: i32, spec: Value) -> Value {
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

fn node(pool: &str, accelerators: &str) -> Value {
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

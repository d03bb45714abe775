//! Every combination of two profiles, nodes and a pod, compared with what docs/adr/0022 says node by node.

use crate::support::generated_world::World;
use crate::support::suite::Suite;
use fabric_admission::rules::Severity;
use serde_json::{Value, json};

pub(crate) fn add(suite: &mut Suite) {
    suite.add("profiles_that_hold::what_is_forbidden_on_a_node_is_refused_on_the_way_to_it", || Ok(all()?));
    suite.add("profiles_that_hold::the_answer_is_the_same_before_a_pool_grows", || Ok(grown()?));
    suite.add("profiles_that_hold::a_term_for_another_profile_hides_none", || Ok(beside_other_terms()?));
    suite
        .add("profiles_that_hold::an_exception_of_higher_priority_hides_no_pool", || Ok(beside_exception()?));
    suite.add("profiles_that_hold::a_node_that_registers_its_devices_hides_none", || Ok(before_devices()?));
    suite.add("profiles_that_hold::a_named_profile_hides_others_on_its_nodes_only", || {
        Ok(beside_shared_nodes()?)
    });
    suite.add("profiles_that_hold::labels_that_a_pod_leaves_open_hide_none", || Ok(beside_open_labels()?));
    suite.add("profiles_that_hold::values_of_a_profile_count_on_its_own_nodes", || Ok(values()?));
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

/// A term asks for the nodes of the strict profile that join later. Further terms, or further values in it, may ask for another
/// profile of a higher priority, whose pool is at zero: it would be on other nodes.
fn beside_other_terms() -> Result<(), String> {
    let pool =
        |pools: &[&str]| json!({"matchExpressions": [{"key": "pool", "operator": "In", "values": pools}]});
    let strict_later = |pools: &[&str]| {
        let mut term = pool(pools);
        term["matchFields"] = json!([{"key": "metadata.name", "operator": "NotIn", "values": ["strict"]}]);
        term
    };
    let above = std::iter::repeat_n(
        json!({"matchExpressions": [{"key": "a", "operator": "Gt", "values": ["1"]}]}),
        66,
    );
    let long: Vec<String> = (0..4_100).map(|i| format!("v{i}")).collect();
    let long: Vec<&str> = long.iter().map(String::as_str).collect();
    let many = |n: usize| std::iter::repeat_n(pool(&["none"]), n);
    let terms = [
        vec![strict_later(&["strict"])],
        vec![pool(&["lax"]), strict_later(&["strict"])],
        vec![pool(&["lax"]), strict_later(&["strict"]), pool(&["high"])],
        vec![pool(&["lax"]), strict_later(&["strict", "high"])],
        vec![strict_later(&["strict", "high", "lax"])],
        many(64).chain([pool(&["lax"]), strict_later(&["strict"])]).collect(),
        // More conditions than are read.
        above.clone().chain([strict_later(&["strict"])]).collect(),
        above.chain([pool(&["strict"])]).collect(),
        vec![pool(&long), strict_later(&["strict"])],
        vec![strict_later(&[&["strict"], &long[..]].concat())],
    ];
    let of_pool = |name: &'static str, priority, env| {
        let mut object = profile(name, For::Nobody, priority, json!({ "env": env }));
        object["spec"]["nodeSelector"] = json!({"matchLabels": {"pool": name}});
        object
    };
    let forbids = json!([{"name": "NCCL_ALGO", "policy": "forbid"}]);
    let profiles =
        [of_pool("strict", 0, forbids), of_pool("lax", 0, json!([])), of_pool("high", 5, json!([]))];
    for terms in terms {
        for named in [None, Some("lax")] {
            for nodes in [&["lax"][..], &["lax", "strict"]] {
                let nodes: Vec<Value> = nodes.iter().map(|pool| node(pool, "nvidia.com/gpu")).collect();
                let mut pod = json!({"metadata": {"name": "p"}, "spec": {
                    "affinity": {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": terms}}},
                    "containers": [{"name": "t", "image": "i", "env": [{"name": "NCCL_ALGO", "value": "Ring"}],
                        "resources": {"limits": {"nvidia.com/gpu": 8}}}]}});
                if let Some(named) = named {
                    pod["metadata"]["annotations"] = json!({"fabric-admission.dev/profile": named});
                }
                let world = World::new(&json!({"pod": pod, "objects": nodes, "profiles": profiles}));
                let decision = world.decide().ok_or("the pod cannot be read")?;
                if !decision.findings.iter().any(|f| f.rule == "FAB403" && f.severity == Severity::Error) {
                    return Err(format!("{pod} with {} nodes: {:?}", nodes.len(), decision.findings));
                }
            }
        }
    }
    Ok(())
}

/// A pod that asks for the nodes of a profile is refused while there are none, and once they are ready. So it is in between, while
/// their plugins have registered nothing, or not everything.
fn before_devices() -> Result<(), String> {
    let resources = |of: Value| {
        let mut all = json!({"cpu": "64", "memory": "1Ti"});
        for (name, units) in of.as_object().into_iter().flatten() {
            all[name] = units.clone();
        }
        json!({"apiVersion": "v1", "kind": "Node", "metadata": {"name": "strict", "labels": {"pool": "strict"}}, "status": {"allocatable": all}})
    };
    let both = json!([{"matchExpressions": [{"key": "pool", "operator": "In", "values": ["lax"]}]},
        {"matchExpressions": [{"key": "pool", "operator": "In", "values": ["strict"]}]}]);
    let either =
        json!([{"matchExpressions": [{"key": "pool", "operator": "In", "values": ["strict", "lax"]}]}]);
    let affinity = |terms: &Value| json!({"affinity": {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": terms}}}});
    let selector = json!({"nodeSelector": {"pool": "strict"}});
    let of_pool = |name: &'static str, env: Value| {
        let mut object = profile(name, For::Nobody, 0, json!({ "env": env }));
        object["spec"]["nodeSelector"] = json!({"matchLabels": {"pool": name}});
        object
    };
    let mut strict = of_pool("strict", json!([{"name": "NCCL_ALGO", "policy": "forbid"}]));
    strict["spec"]["resources"] = json!([{"name": "x.com/rdma", "quantity": 1}]);
    let profiles = [strict, of_pool("lax", json!([]))];
    let lax = json!({"apiVersion": "v1", "kind": "Node", "metadata": {"name": "lax", "labels": {"pool": "lax"}},
        "status": {"allocatable": {"cpu": "64", "nvidia.com/gpu": "8", "x.com/rdma": "8"}}});
    let states = [
        vec![],
        vec![resources(json!({}))],
        vec![resources(json!({"x.com/rdma": "8"}))],
        vec![resources(json!({"nvidia.com/gpu": "0"}))],
        vec![resources(json!({"nvidia.com/gpu": "8"}))],
        vec![resources(json!({"nvidia.com/gpu": "8", "x.com/rdma": "8"}))],
    ];
    for state in states {
        for (spec, rdma) in [
            (affinity(&both), false),
            (affinity(&either), false),
            (selector.clone(), false),
            (selector.clone(), true),
        ] {
            for named in [None, Some("lax")] {
                // A pod that requests a resource of the profile has this profile.
                if rdma && named.is_none() {
                    continue;
                }
                let mut limits = json!({"nvidia.com/gpu": 8});
                if rdma {
                    limits["x.com/rdma"] = 1.into();
                }
                let mut pod = json!({"metadata": {"name": "p"}, "spec": spec});
                pod["spec"]["containers"] = json!([{"name": "t", "image": "i", "env": [{"name": "NCCL_ALGO", "value": "Ring"}],
                    "resources": {"limits": limits}}]);
                if let Some(named) = named {
                    pod["metadata"]["annotations"] = json!({"fabric-admission.dev/profile": named});
                }
                let objects: Vec<&Value> = state.iter().chain([&lax]).collect();
                let world = World::new(&json!({"pod": pod, "objects": objects, "profiles": profiles}));
                let decision = world.decide().ok_or("the pod cannot be read")?;
                if !decision.findings.iter().any(|f| f.rule == "FAB403" && f.severity == Severity::Error) {
                    return Err(format!("{pod} with {state:?}: {:?}", decision.findings));
                }
            }
        }
    }
    Ok(())
}

/// A profile of a higher priority is for some nodes of the pool. While the pod can run on these only, the profile of the pool
/// holds as well, unless the pod asks for these nodes only: other nodes of the pool may join.
fn beside_exception() -> Result<(), String> {
    let pool = |pools: &[&str]| json!({"key": "pool", "operator": "In", "values": pools});
    let later = |mut term: Value| {
        term["matchFields"] = json!([{"key": "metadata.name", "operator": "NotIn", "values": ["strict"]}]);
        term
    };
    let terms = |terms: Value| json!({"affinity": {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": terms}}}});
    let term = |expressions: Value| json!({ "matchExpressions": expressions });
    let exception = json!({"key": "canary", "operator": "In", "values": ["true"]});
    let no_exception = json!({"key": "canary", "operator": "DoesNotExist"});
    let selector = json!({"nodeSelector": {"pool": "strict"}});
    let mut selector_later = terms(json!([later(json!({}))]));
    selector_later["nodeSelector"] = selector["nodeSelector"].clone();
    let object = |name: &'static str, priority, labels: Value, env: Value| {
        let mut object = profile(name, For::Nobody, priority, json!({ "env": env }));
        object["spec"]["nodeSelector"] = json!({ "matchLabels": labels });
        object
    };
    let forbids = json!([{"name": "NCCL_ALGO", "policy": "forbid"}]);
    let sets = json!([{"name": "NCCL_PROTO", "value": "LL"}]);
    let profiles = [
        object("strict", 0, json!({"pool": "strict"}), forbids),
        object("lax", 0, json!({"pool": "lax"}), json!([])),
        object("canary", 5, json!({"pool": "strict", "canary": "true"}), sets),
    ];
    let node = |name: &str, labels: Value| {
        json!({"apiVersion": "v1", "kind": "Node", "metadata": {"name": name, "labels": labels},
            "status": {"allocatable": {"nvidia.com/gpu": "8"}}})
    };
    let (strict, lax, canary) = (
        node("strict", json!({"pool": "strict"})),
        node("lax", json!({"pool": "lax"})),
        node("canary", json!({"pool": "strict", "canary": "true"})),
    );
    let with_pool = [strict, lax.clone(), canary.clone()];
    let at_zero = [lax, canary];
    for (nodes, spec, refused) in [
        (&with_pool[..], selector.clone(), true),
        (&with_pool, terms(json!([later(term(json!([pool(&["strict"])])))])), true),
        (&with_pool, selector_later, true),
        (
            &with_pool,
            terms(json!([term(json!([pool(&["lax"])])), later(term(json!([pool(&["strict"])])))])),
            true,
        ),
        (&with_pool, terms(json!([later(term(json!([pool(&["strict"]), no_exception])))])), true),
        (&at_zero, selector, true),
        (&at_zero, terms(json!([term(json!([pool(&["strict"])]))])), true),
        // Only the nodes of the exception.
        (&with_pool, terms(json!([term(json!([pool(&["strict"]), exception]))])), false),
        (&at_zero, terms(json!([term(json!([pool(&["strict"]), exception]))])), false),
        (&with_pool, json!({"nodeSelector": {"pool": "strict", "canary": "true"}}), false),
        (&at_zero, json!({"nodeSelector": {"pool": "lax"}}), false),
    ] {
        for named in [None, Some("lax"), Some("canary")] {
            let mut pod = json!({"metadata": {"name": "p"}, "spec": spec});
            pod["spec"]["containers"] = json!([{"name": "t", "image": "i", "env": [{"name": "NCCL_ALGO", "value": "Ring"}],
                "resources": {"limits": {"nvidia.com/gpu": 8}}}]);
            if let Some(named) = named {
                pod["metadata"]["annotations"] = json!({"fabric-admission.dev/profile": named});
            }
            let world = World::new(&json!({"pod": pod, "objects": nodes, "profiles": profiles}));
            let decision = world.decide().ok_or("the pod cannot be read")?;
            let actual =
                decision.findings.iter().any(|f| f.rule == "FAB403" && f.severity == Severity::Error);
            if actual != refused {
                return Err(format!(
                    "{pod} with {} nodes: refused {actual}, {:?}",
                    nodes.len(),
                    decision.findings
                ));
            }
        }
    }
    Ok(())
}

/// A pod lists the pool of a profile that is for the nodes of the pool without, or with, another label.
fn beside_open_labels() -> Result<(), String> {
    let in_pool =
        |pool: &str| json!({"matchExpressions": [{"key": "pool", "operator": "In", "values": [pool]}]});
    let node = json!({"apiVersion": "v1", "kind": "Node", "metadata": {"name": "lax", "labels": {"pool": "lax"}},
        "status": {"allocatable": {"nvidia.com/gpu": "8"}}});
    let mut lax = profile("lax", For::Nobody, 0, json!({}));
    lax["spec"]["nodeSelector"] = json!({"matchLabels": {"pool": "lax"}});
    for further in [
        json!({"key": "canary", "operator": "DoesNotExist"}),
        json!({"key": "canary", "operator": "NotIn", "values": ["true"]}),
        json!({"key": "gpu", "operator": "Exists"}),
    ] {
        let mut strict =
            profile("strict", For::Nobody, 0, json!({"env": [{"name": "NCCL_ALGO", "policy": "forbid"}]}));
        strict["spec"]["nodeSelector"] =
            json!({"matchLabels": {"pool": "strict"}, "matchExpressions": [further]});
        let mut other = in_pool("strict");
        other["matchExpressions"].as_array_mut().into_iter().for_each(|all| {
            all.push(json!({"key": "canary", "operator": "In", "values": ["true"]}));
            all.push(json!({"key": "gpu", "operator": "DoesNotExist"}));
        });
        for (term, refused) in [(in_pool("strict"), true), (other, false)] {
            let terms = json!([in_pool("lax"), term]);
            let pod = json!({"metadata": {"name": "p"}, "spec": {
                "affinity": {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": terms}}},
                "containers": [{"name": "t", "image": "i", "env": [{"name": "NCCL_ALGO", "value": "Ring"}],
                    "resources": {"limits": {"nvidia.com/gpu": 8}}}]}});
            let world = World::new(&json!({"pod": pod, "objects": [node], "profiles": [strict, lax]}));
            let decision = world.decide().ok_or("the pod cannot be read")?;
            let actual =
                decision.findings.iter().any(|f| f.rule == "FAB403" && f.severity == Severity::Error);
            if actual != refused {
                return Err(format!("{pod} with {further}: refused {actual}, {:?}", decision.findings));
            }
        }
    }
    Ok(())
}

/// A profile that the pod names replaces another one on the nodes of both, and only there.
fn beside_shared_nodes() -> Result<(), String> {
    let object = |name: &'static str, labels: Value, env: Value| {
        let mut object = profile(name, For::Nobody, 0, json!({ "env": env }));
        object["spec"]["nodeSelector"] = json!({ "matchLabels": labels });
        object
    };
    let forbids = json!([{"name": "NCCL_ALGO", "policy": "forbid"}]);
    let profiles = [
        object("strict", json!({"pool": "strict"}), forbids),
        object("ib", json!({"ib": "true"}), json!([])),
    ];
    let node = |name: &str, labels: Value| {
        json!({"apiVersion": "v1", "kind": "Node", "metadata": {"name": name, "labels": labels},
            "status": {"allocatable": {"nvidia.com/gpu": "8"}}})
    };
    let both = node("both", json!({"pool": "strict", "ib": "true"}));
    let strict = node("strict", json!({"pool": "strict"}));
    let of_strict = json!({"key": "pool", "operator": "In", "values": ["strict"]});
    let of_ib = json!({"key": "ib", "operator": "In", "values": ["true"]});
    let later = json!({"matchExpressions": [of_strict], "matchFields": [{"key": "metadata.name", "operator": "NotIn", "values": ["strict"]}]});
    let affinity = |terms: Value| json!({"affinity": {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": terms}}}});
    for (nodes, spec, refused) in [
        (vec![&both, &strict], json!({"nodeSelector": {"pool": "strict"}}), true),
        (vec![&both, &strict], affinity(json!([later])), true),
        (vec![&both, &strict], affinity(json!([{"matchExpressions": [of_ib]}, later])), true),
        (vec![&both], json!({"nodeSelector": {"pool": "strict"}}), true),
        (vec![&both, &strict], json!({"nodeSelector": {"pool": "strict", "ib": "true"}}), false),
        (vec![&both, &strict], json!({"nodeSelector": {"ib": "true"}}), false),
    ] {
        let mut pod = json!({"metadata": {"name": "p", "annotations": {"fabric-admission.dev/profile": "ib"}}, "spec": spec});
        pod["spec"]["containers"] = json!([{"name": "t", "image": "i", "env": [{"name": "NCCL_ALGO", "value": "Ring"}],
            "resources": {"limits": {"nvidia.com/gpu": 8}}}]);
        let world = World::new(&json!({"pod": pod, "objects": nodes, "profiles": profiles}));
        let decision = world.decide().ok_or("the pod cannot be read")?;
        let actual = decision.findings.iter().any(|f| f.rule == "FAB403" && f.severity == Severity::Error);
        if actual != refused {
            return Err(format!(
                "{pod} with {} nodes: refused {actual}, {:?}",
                nodes.len(),
                decision.findings
            ));
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

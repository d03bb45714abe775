//! A pod asks for the nodes of a profile that it cannot run on now: they are excluded by name, are not there, have not registered
//! their devices, or belong to another profile as well. What the profile forbids is refused, as on its nodes (docs/adr/0022).

use super::profiles_that_hold::{For, node, profile};
use crate::support::generated_world::World;
use crate::support::suite::Suite;
use fabric_admission::rules::Severity;
use serde_json::{Value, json};

pub(crate) fn add(suite: &mut Suite) {
    suite.add("profiles_asked_for::a_node_without_accelerators_has_registered_nothing", || {
        Ok(other_resource()?)
    });
    suite.add("profiles_asked_for::a_pod_that_names_its_nodes_asks_for_no_others", || Ok(on_named_nodes()?));
    suite.add("profiles_asked_for::many_looks_hide_none", || Ok(beyond_looks()?));
    suite.add("profiles_asked_for::a_term_for_another_profile_hides_none", || Ok(beside_other_terms()?));
    suite
        .add("profiles_asked_for::an_exception_of_higher_priority_hides_no_pool", || Ok(beside_exception()?));
    suite.add("profiles_asked_for::a_node_that_registers_its_devices_hides_none", || Ok(before_devices()?));
    suite.add("profiles_asked_for::a_named_profile_hides_others_on_its_nodes_only", || {
        Ok(beside_shared_nodes()?)
    });
    suite.add("profiles_asked_for::labels_that_a_pod_leaves_open_hide_none", || Ok(beside_open_labels()?));
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
        // A label that must be there is one that the pod has to ask for.
        for (term, refused) in [(in_pool("strict"), further["operator"] != "Exists"), (other, false)] {
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

fn refused(pod: Value, nodes: &[Value], profiles: &[Value]) -> Result<bool, String> {
    let mut pod = pod;
    pod["spec"]["containers"] = json!([{"name": "t", "image": "i", "env": [{"name": "NCCL_ALGO", "value": "Ring"}],
        "resources": {"limits": {"nvidia.com/gpu": 8}}}]);
    let world = World::new(&json!({"pod": pod, "objects": nodes, "profiles": profiles}));
    let decision = world.decide().ok_or("the pod cannot be read")?;
    Ok(decision.findings.iter().any(|f| f.rule == "FAB403" && f.severity == Severity::Error))
}

fn of_labels(name: &'static str, priority: i32, labels: Value, forbids: bool) -> Value {
    let env = if forbids { json!([{"name": "NCCL_ALGO", "policy": "forbid"}]) } else { json!([]) };
    let mut object = profile(name, For::Nobody, priority, json!({ "env": env }));
    object["spec"]["nodeSelector"] = json!({ "matchLabels": labels });
    object
}

fn of_terms(terms: Value) -> Value {
    json!({"affinity": {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": terms}}}})
}

/// A pod of a DaemonSet, or one that names its host.
fn on_named_nodes() -> Result<(), String> {
    let profiles = [
        of_labels("strict", 0, json!({"pool": "strict"}), true),
        of_labels("canary", 5, json!({"pool": "strict", "canary": "true"}), false),
        of_labels("lax", 0, json!({"pool": "lax"}), false),
    ];
    let of = |name: &str, labels: Value, resource: &str| {
        let mut labels = labels;
        labels["kubernetes.io/hostname"] = name.into();
        json!({"apiVersion": "v1", "kind": "Node", "metadata": {"name": name, "labels": labels}, "status": {"allocatable": {resource: "8"}}})
    };
    let ready = [
        of("n-strict", json!({"pool": "strict"}), "nvidia.com/gpu"),
        of("n-canary", json!({"pool": "strict", "canary": "true"}), "nvidia.com/gpu"),
        of("n-lax", json!({"pool": "lax"}), "nvidia.com/gpu"),
    ];
    let mut joining = ready.clone();
    joining[0] = of("n-strict", json!({"pool": "strict"}), "cpu");
    let in_pool = |pool: &str| json!({"key": "pool", "operator": "In", "values": [pool]});
    let name = |name: &str| json!([{"key": "metadata.name", "operator": "In", "values": [name]}]);
    let pinned = |node: &str| json!({"matchExpressions": [in_pool("strict")], "matchFields": name(node)});
    let selector = |node: &str| json!({"nodeSelector": {"pool": "strict", "kubernetes.io/hostname": node}});
    let either = |node: &str| of_terms(json!([{"matchExpressions": [in_pool("lax")]}, pinned(node)]));
    for (nodes, spec, expected) in [
        (&ready, selector("n-canary"), false),
        (&ready, of_terms(json!([pinned("n-canary")])), false),
        (&ready, selector("n-strict"), true),
        (&ready, of_terms(json!([pinned("n-strict")])), true),
        (&ready, either("n-canary"), false),
        (&ready, either("n-strict"), true),
        // The node has not registered its devices yet.
        (&joining, either("n-strict"), true),
        // A name that no node has now.
        (&ready, either("n-strict-2"), true),
    ] {
        let actual = refused(json!({"metadata": {"name": "p"}, "spec": spec}), nodes, &profiles)?;
        if actual != expected {
            return Err(format!("{spec}: refused {actual}"));
        }
    }
    Ok(())
}

/// Conditions on single nodes take the looks of the decision, and the term counts as fitting all nodes.
fn beyond_looks() -> Result<(), String> {
    let profiles = [
        of_labels("strict", 0, json!({"pool": "strict"}), true),
        of_labels("lax", 0, json!({"pool": "lax"}), false),
    ];
    let of = |i: usize| {
        let name = format!("n{i}");
        json!({"apiVersion": "v1", "kind": "Node", "metadata": {"name": name, "labels": {"pool": if i == 0 { "strict" } else { "lax" },
            "kubernetes.io/hostname": name}}, "status": {"allocatable": {"nvidia.com/gpu": "8"}}})
    };
    let nodes: Vec<Value> = (0..64).map(of).collect();
    for exists in [1, 500, 2_000, 2_500, 4_000] {
        let any = json!({"key": "kubernetes.io/hostname", "operator": "Exists"});
        let mut all = vec![any; exists];
        all.push(json!({"key": "pool", "operator": "In", "values": ["strict"]}));
        all.push(json!({"key": "kubernetes.io/hostname", "operator": "NotIn", "values": ["n0"]}));
        let lax = json!({"matchExpressions": [{"key": "pool", "operator": "In", "values": ["lax"]}]});
        let spec = of_terms(json!([lax, {"matchExpressions": all}]));
        if !refused(json!({"metadata": {"name": "p"}, "spec": spec}), &nodes, &profiles)? {
            return Err(format!("{exists} conditions: not refused"));
        }
    }
    Ok(())
}

/// The pod requests a resource of its own profile, which the nodes of the other profile get as well.
fn other_resource() -> Result<(), String> {
    let mut lax = of_labels("lax", 0, json!({"pool": "lax"}), false);
    lax["spec"]["resources"] = json!([{"name": "x.com/rdma", "quantity": 1}]);
    let profiles = [of_labels("strict", 0, json!({"pool": "strict"}), true), lax];
    let node = |name: &str, resources: Value| json!({"apiVersion": "v1", "kind": "Node", "metadata": {"name": name, "labels": {"pool": name}}, "status": {"allocatable": resources}});
    let ready = json!({"cpu": "8", "nvidia.com/gpu": "8", "x.com/rdma": "8"});
    let in_pool =
        |pool: &str| json!({"matchExpressions": [{"key": "pool", "operator": "In", "values": [pool]}]});
    let either = of_terms(json!([in_pool("lax"), in_pool("strict")]));
    for strict in [None, Some(json!({"cpu": "8", "memory": "1Ti"})), Some(ready.clone())] {
        let mut nodes = vec![node("lax", ready.clone())];
        nodes.extend(strict.into_iter().map(|resources| node("strict", resources)));
        for spec in [either.clone(), json!({"nodeSelector": {"pool": "strict"}})] {
            let mut pod = json!({"metadata": {"name": "p", "annotations": {"fabric-admission.dev/profile": "lax"}}, "spec": spec});
            pod["spec"]["containers"] = json!([{"name": "t", "image": "i", "env": [{"name": "NCCL_ALGO", "value": "Ring"}],
                "resources": {"limits": {"nvidia.com/gpu": 8, "x.com/rdma": 1}}}]);
            let world = World::new(&json!({"pod": pod, "objects": nodes, "profiles": profiles}));
            let decision = world.decide().ok_or("the pod cannot be read")?;
            if !decision.findings.iter().any(|f| f.rule == "FAB403" && f.severity == Severity::Error) {
                return Err(format!("{pod} with {nodes:?}: {:?}", decision.findings));
            }
        }
    }
    Ok(())
}

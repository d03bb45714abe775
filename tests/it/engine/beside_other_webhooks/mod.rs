//! Beside other writers of the networks annotation and of quantities, in any order and again by reinvocation, a pod
//! comes to rest: our next decision changes nothing, nothing of theirs is lost, and no unit is asked twice.

pub(crate) mod writers;

use crate::support::generated_world::World;
use crate::support::suite::{Outcome, Suite};
use fabric_admission::facts::EnforcementMode;
use fabric_admission::review::{Decision, Stage};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use writers::{
    DEFINITIONS, NETWORKS, Write, annotation, attachments, honoring_injector, ib_kubernetes, injector, istio,
    istio_with_proxy, quantity, spiderpool, spiderpool_on_the_rails,
};

const RAILS: usize = 8;

pub(crate) fn add(suite: &mut Suite) {
    for (name, write) in WRITERS {
        for (shape, pod) in pods() {
            // A list without items is what Istio cannot add to; see `istio_breaks_an_empty_list`.
            if name.starts_with("istio") && shape == "empty_list" {
                continue;
            }
            suite
                .add(format!("beside_other_webhooks::{name}::{shape}"), move || every_order(&pod, &[*write]));
        }
    }
    for (shape, pod) in pods().into_iter().filter(|(shape, _)| *shape != "empty_list") {
        suite.add(format!("beside_other_webhooks::all_of_them::{shape}"), move || {
            let [istio, proxy, injector, spiderpool, _] = WRITERS.map(|(_, write)| write);
            every_order(&pod, &[istio, injector])?;
            every_order(&pod, &[proxy, injector])?;
            every_order(&pod, &[spiderpool, istio])
        });
    }
    suite.add("beside_other_webhooks::a_write_of_ib_kubernetes_is_not_changed", update_is_let_through);
    suite.add("beside_other_webhooks::ib_kubernetes_marks_stay_when_a_pod_is_made_again", marks_stay);
    suite.add("beside_other_webhooks::spiderpool_asks_one_unit_for_eight_rails", spiderpool_is_topped_up);
    suite.add("beside_other_webhooks::injector_before_us_puts_units_on_the_proxy", injector_on_the_proxy);
    suite.add("beside_other_webhooks::honoring_injector_before_us_leaves_nothing_to_add", honoring_before_us);
    suite.add("beside_other_webhooks::honoring_injector_after_us_doubles_and_is_reported", honoring_after_us);
    suite.add("beside_other_webhooks::old_istio_in_a_list_is_refused_with_the_fix", old_istio);
    suite.add(
        "beside_other_webhooks::istio_breaks_an_empty_list_unless_we_come_first",
        istio_breaks_an_empty_list,
    );
}

const WRITERS: &[(&str, Write); 5] = &[
    ("istio", istio),
    ("istio_with_proxy", istio_with_proxy),
    ("injector", injector),
    ("spiderpool", spiderpool),
    ("spiderpool_on_the_rails", spiderpool_on_the_rails),
];

/// A pod of eight accelerators, as its user may have written it.
fn pods() -> Vec<(&'static str, Value)> {
    let trainer = || json!({"name": "trainer", "image": "example.com/t:1", "resources": {"limits": {"nvidia.com/gpu": "8"}}});
    let half = |name: &str| json!({"name": name, "image": "example.com/t:1", "resources": {"limits": {"nvidia.com/gpu": "4"}, "requests": {"nvidia.com/gpu": "4"}}});
    let helper = json!({"name": "helper", "image": "example.com/h:1", "resources": {"limits": {"cpu": "1"}}});
    let pod = |networks: Option<&str>, containers: Value| {
        let mut annotations = json!({"fabric-admission.dev/profile": "site"});
        if let Some(networks) = networks {
            annotations[NETWORKS] = networks.into();
        }
        json!({"metadata": {"name": "p", "namespace": "team", "annotations": annotations}, "spec": {"containers": containers}})
    };
    vec![
        ("bare", pod(None, json!([trainer()]))),
        ("no_metadata_but_the_profile", pod(Some(""), json!([trainer()]))),
        ("accelerators_second", pod(None, json!([helper, trainer()]))),
        ("two_with_accelerators", pod(None, json!([half("a"), half("b")]))),
        ("own_network_in_short_form", pod(Some("storage@st0, fabric/net"), json!([trainer()]))),
        ("own_network_on_the_same_resource", pod(Some("capture@rail3,fabric/net@rail5"), json!([trainer()]))),
        ("list", pod(Some(LIST), json!([trainer()]))),
        ("empty_list", pod(Some("[ ]"), json!([trainer()]))),
        ("list_and_accelerators_second", pod(Some(LIST), json!([helper, trainer()]))),
    ]
}

/// A list with every key that Multus reads, and one that it does not.
const LIST: &str = r#"[
  {"name": "storage", "mac": "c2:b0:57:49:47:f1", "ips": ["10.0.0.5/24"], "interface": "rail1", "x-own": {"b":1.50,"a":"]"}},
  {"name":"net","namespace":"fabric","interface":"rail7","infiniband-guid":"24:8a:07:03:00:8d:ae:2e","cni-args":{"z":[1, 2],"a":null}, "default-route": ["10.0.0.1"]}
]"#;

fn world(pod: &Value) -> World {
    let networks = DEFINITIONS.map(|(namespace, name, resource)| {
        let annotations = resource.map(|r| json!({"k8s.v1.cni.cncf.io/resourceName": r})).unwrap_or(json!({}));
        let config = if resource.is_some() { r#"{"type":"sriov"}"# } else { r#"{"type":"macvlan"}"# };
        json!({
            "apiVersion": "k8s.cni.cncf.io/v1", "kind": "NetworkAttachmentDefinition",
            "metadata": {"namespace": namespace, "name": name, "annotations": annotations}, "spec": {"config": config},
        })
    });
    let rails = json!([{"network": "fabric/net", "resource": "example.com/vf", "count": RAILS}]);
    let profile = json!({
        "apiVersion": "fabric-admission.dev/v1alpha1", "kind": "FabricProfile", "metadata": {"name": "site"},
        "spec": {"base": "roce-sriov", "rails": rails},
    });
    World::new(
        &json!({"pod": pod, "profiles": [profile], "objects": networks, "namespace": {"name": "team"}, "mutate": true}),
    )
}

/// Our call: the pod after it, and what was decided.
fn us(world: &World, pod: &mut Value) -> Result<Decision, String> {
    let decision = world.decide_on(pod).ok_or("the pod cannot be read")?;
    if decision.denied {
        return Err(format!("denied: {:?}", decision.findings));
    }
    let text = decision.patch.text();
    let patch: json_patch::Patch = serde_json::from_str(text).map_err(|e| e.to_string())?;
    json_patch::patch(pod, &patch).map_err(|e| format!("{e}: {text}"))?;
    Ok(decision)
}

/// Calls in order: `None` is ours.
type Calls = Vec<Option<Write>>;

/// Every way in which two rounds of the writers and of ours may follow each other, ours last: the API server calls a
/// webhook again once another has changed the pod after it.
fn orders(writers: &[Write]) -> Vec<Calls> {
    let mut all = Vec::new();
    for writer in writers {
        let others: Vec<Write> =
            writers.iter().copied().filter(|w| !std::ptr::fn_addr_eq(*w, *writer)).collect();
        let own = Some(*writer);
        let rest: Vec<Option<Write>> = others.iter().copied().map(Some).collect();
        for calls in [
            vec![own, None],
            vec![None, own, None],
            vec![own, None, own, None],
            vec![None, own, None, own, None],
        ] {
            // The other writer at every place.
            for at in 0..=calls.len() {
                let mut calls = calls.clone();
                calls.splice(at..at, rest.iter().copied());
                calls.push(None);
                all.push(calls);
            }
        }
    }
    all
}

fn every_order(pod: &Value, writers: &[Write]) -> Outcome {
    let world = world(pod);
    for calls in orders(writers) {
        let mut now = pod.clone();
        let mut trace = vec![annotation(&now).unwrap_or("none").to_owned()];
        let mut theirs = attachments(annotation(&now).unwrap_or_default());
        for call in &calls {
            match call {
                None => {
                    let before: i64 = units(&now).iter().sum();
                    us(&world, &mut now)?;
                    let (after, needs) = (units(&now).iter().sum::<i64>(), needs(&now)?);
                    if after != before && after != needs {
                        return Err(format!("{before} units, then {after} for {needs} attachments").into());
                    }
                }
                Some(write) => {
                    let before = attachments(annotation(&now).unwrap_or_default());
                    write(&mut now);
                    let after = attachments(annotation(&now).unwrap_or_default());
                    // Who overwrites the annotation takes away what was there; the rest must stay for good.
                    theirs.retain(|item| after.contains(item));
                    theirs.extend(after.iter().filter(|item| !before.contains(item)).cloned());
                }
            }
            trace.push(format!(
                "{}: {}",
                if call.is_none() { "us" } else { "them" },
                annotation(&now).unwrap_or("none")
            ));
        }
        rested(&world, pod, &now, &theirs).map_err(|e| format!("{e}\n{}\n{now:#}", trace.join("\n")))?;
    }
    Ok(())
}

/// What holds of every pod in the end.
fn rested(world: &World, first: &Value, pod: &Value, theirs: &[(String, String)]) -> Result<(), String> {
    let again = us(world, &mut pod.clone())?;
    if !again.patch.is_empty() {
        return Err(format!("patched again: {:?}", again.patch));
    }
    let text = annotation(pod).ok_or("no annotation")?;
    let all = attachments(text);
    for item in theirs {
        if !all.contains(item) {
            return Err(format!("{item:?} is lost"));
        }
    }
    let rails = all.iter().filter(|item| **item == ("fabric".to_owned(), "net".to_owned())).count();
    if rails != RAILS {
        return Err(format!("{rails} attachments of the rails' network"));
    }
    // Where nobody overwrote the list, its items are there to the byte.
    if annotation(first) == Some(LIST) && text.contains("storage") {
        for line in LIST.lines().filter(|l| l.contains("name")) {
            let item = line.trim().trim_end_matches(',');
            if !text.contains(item) {
                return Err(format!("{item} is not as it was"));
            }
        }
    }
    let parsed = fabric_admission::multus::parse_within_limit(text).map_err(|e| e.to_string())?;
    let named: Vec<&str> = parsed.items.iter().filter_map(|i| i.interface.as_deref()).collect();
    if named.iter().collect::<BTreeSet<_>>().len() != named.len() {
        return Err(format!("an interface twice: {named:?}"));
    }
    // As many units as there are attachments that take them, whoever asked first; our own never on a container without
    // accelerators.
    let needs = needs(pod)?;
    let containers = pod["spec"]["containers"].as_array().ok_or("no containers")?;
    let units = |c: &Value| quantity(&c["resources"]["limits"]["example.com/vf"]);
    let sum: i64 = containers.iter().map(units).sum();
    // Spiderpool gives container 0 a unit beside ours, and takes networks away after they were counted.
    let more = again.findings.iter().any(|f| f.rule == "FAB204");
    if sum < needs || more != (sum > needs) {
        return Err(format!("{sum} units for {needs} attachments, FAB204: {more}"));
    }
    for container in containers {
        let (limit, request) =
            (&container["resources"]["limits"], &container["resources"]["requests"]["example.com/vf"]);
        if !request.is_null() && quantity(request) != units(container) {
            return Err(format!("request {request} beside limits {limit}"));
        }
    }
    let elsewhere: i64 =
        containers.iter().filter(|c| c["resources"]["limits"]["nvidia.com/gpu"].is_null()).map(units).sum();
    let reported = again.findings.iter().any(|f| f.rule == "FAB203");
    if reported != (elsewhere > 0 && sum - elsewhere < needs) {
        return Err(format!("{elsewhere} units elsewhere, FAB203: {reported}"));
    }
    Ok(())
}

/// Attachments that take a unit of the rails' resource.
fn needs(pod: &Value) -> Result<i64, String> {
    let takes = |item: &(String, String)| {
        let known = DEFINITIONS.iter().find(|(ns, n, _)| *ns == item.0 && *n == item.1);
        known.is_some_and(|(_, _, resource)| *resource == Some("example.com/vf"))
    };
    let all = attachments(annotation(pod).ok_or("no annotation")?);
    i64::try_from(all.into_iter().filter(takes).count()).map_err(|e| e.to_string())
}

fn shape(name: &str) -> Value {
    pods().into_iter().find(|(n, _)| *n == name).map(|(_, pod)| pod).unwrap()
}

fn units(pod: &Value) -> Vec<i64> {
    let containers = pod["spec"]["containers"].as_array().unwrap();
    containers.iter().map(|c| quantity(&c["resources"]["limits"]["example.com/vf"])).collect()
}

/// Findings of the last webhook on the pod as it will be stored.
fn last(world: &World, pod: &Value) -> Vec<&'static str> {
    let decision = world.decide_as(pod, Stage::Final, EnforcementMode::Enforce).unwrap();
    decision.findings.iter().map(|f| f.rule).collect()
}

fn update_is_let_through() -> Outcome {
    use fabric_admission::review::decide_webhook_request::{WebhookEntry, decide_body_for_anyone};
    let before = shape("list");
    let world = world(&before);
    let mut pod = before;
    us(&world, &mut pod)?;
    let old = pod.clone();
    ib_kubernetes(&mut pod);
    assert_ne!(old, pod);
    let body = json!({
        "apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview",
        "request": {
            "uid": "u", "kind": {"group": "", "version": "v1", "kind": "Pod"}, "namespace": "team",
            "operation": "UPDATE", "object": pod, "oldObject": old,
        },
    });
    for entry in [WebhookEntry::Mutate, WebhookEntry::Validate, WebhookEntry::Audit] {
        let decision = decide_body_for_anyone(body.to_string().as_bytes(), entry, &world.snapshot)?.decision;
        assert!(!decision.in_scope && !decision.denied && decision.patch.is_empty(), "{entry:?}");
    }
    Ok(())
}

/// A pod that is created from a dump carries what ib-kubernetes wrote.
fn marks_stay() -> Outcome {
    for name in ["bare", "list", "own_network_in_short_form", "two_with_accelerators"] {
        let mut pod = shape(name);
        let world = world(&pod);
        us(&world, &mut pod)?;
        ib_kubernetes(&mut pod);
        let before = pod.clone();
        us(&world, &mut pod)?;
        assert_eq!(before, pod, "{name}");
        // And a rail that is added later leaves them alone.
        let mut fewer: Vec<Value> = serde_json::from_str(annotation(&pod).unwrap())?;
        let gone = fewer.pop().unwrap();
        let text = Value::from(fewer).to_string();
        pod["metadata"]["annotations"][NETWORKS] = text.clone().into();
        us(&world, &mut pod)?;
        let now = annotation(&pod).unwrap();
        assert!(now.starts_with(text.trim_end_matches(']')), "{name}: {now}");
        assert!(now.contains(gone["interface"].as_str().unwrap()), "{name}: {now}");
    }
    Ok(())
}

fn spiderpool_is_topped_up() -> Outcome {
    for (name, expected) in
        [("bare", vec![8]), ("accelerators_second", vec![1, 7]), ("two_with_accelerators", vec![4, 4])]
    {
        let mut pod = shape(name);
        let world = world(&pod);
        spiderpool_on_the_rails(&mut pod);
        us(&world, &mut pod)?;
        assert_eq!(units(&pod), expected, "{name}");
        assert_eq!(last(&world, &pod).contains(&"FAB203"), name == "accelerators_second");
    }
    Ok(())
}

/// The injector sees a network only where the user named it. Before us, and with a proxy in front, its units are lost to
/// the container with the accelerators: they cannot be taken back, and that is reported.
fn injector_on_the_proxy() -> Outcome {
    let mut pod = shape("own_network_in_short_form");
    let world = world(&pod);
    istio_with_proxy(&mut pod);
    injector(&mut pod);
    us(&world, &mut pod)?;
    assert_eq!(units(&pod), [1, 7]);
    let decision = world.decide_as(&pod, Stage::Final, EnforcementMode::Enforce).unwrap();
    let reported = decision.findings.iter().find(|f| f.rule == "FAB203").unwrap();
    assert_eq!(reported.path, "/spec/containers/0/resources/limits/example.com~1vf");
    assert!(
        reported.message.contains("istio-proxy") && reported.message.contains("need 8 but request 7"),
        "{}",
        reported.message
    );
    // With networks of the profile alone the injector has nothing to do, wherever the proxy stands.
    let mut pod = shape("bare");
    istio_with_proxy(&mut pod);
    injector(&mut pod);
    us(&world, &mut pod)?;
    injector(&mut pod);
    assert_eq!(units(&pod), [0, 8]);
    assert!(!last(&world, &pod).contains(&"FAB203"));
    Ok(())
}

/// Called before us, as its name sorts, it counts what the user named, and we add what is missing.
fn honoring_before_us() -> Outcome {
    for (name, expected) in
        [("bare", vec![8]), ("accelerators_second", vec![0, 8]), ("own_network_in_short_form", vec![8])]
    {
        let mut pod = shape(name);
        let world = world(&pod);
        honoring_injector(&mut pod);
        us(&world, &mut pod)?;
        assert_eq!(units(&pod), expected, "{name}");
        assert!(!last(&world, &pod).contains(&"FAB204"));
        let rested = pod.clone();
        us(&world, &mut pod)?;
        assert_eq!(rested, pod);
    }
    Ok(())
}

/// After us it adds its count to ours. We never lower a quantity, so we add nothing more and say so.
fn honoring_after_us() -> Outcome {
    for (name, expected) in [("bare", vec![16]), ("accelerators_second", vec![8, 8])] {
        let mut pod = shape(name);
        let world = world(&pod);
        us(&world, &mut pod)?;
        honoring_injector(&mut pod);
        let before = pod.clone();
        us(&world, &mut pod)?;
        assert_eq!(before, pod, "{name}");
        assert_eq!(units(&pod), expected, "{name}");
        assert!(last(&world, &pod).contains(&"FAB204"), "{name}");
    }
    Ok(())
}

fn old_istio() -> Outcome {
    let mut pod = shape("bare");
    pod["metadata"]["annotations"][NETWORKS] =
        r#"[{"name":"storage"}, {"name": "default/istio-cni"}]"#.into();
    let decision = world(&pod).decide().unwrap();
    assert!(decision.denied && decision.patch.is_empty());
    let reported = decision.findings.iter().find(|f| f.rule == "FAB101").unwrap();
    assert!(
        reported.message.contains("default/istio-cni") && reported.fix.contains("\"namespace\""),
        "{reported:?}"
    );
    Ok(())
}

fn istio_breaks_an_empty_list() -> Outcome {
    let mut pod = shape("empty_list");
    let world = world(&pod);
    istio(&mut pod);
    let decision = world.decide_on(&pod).unwrap();
    assert!(decision.denied && decision.findings.iter().any(|f| f.rule == "FAB101"));
    let mut pod = shape("empty_list");
    us(&world, &mut pod)?;
    istio(&mut pod);
    assert!(us(&world, &mut pod)?.patch.is_empty());
    assert_eq!(attachments(annotation(&pod).unwrap()).len(), RAILS + 1);
    Ok(())
}

//! What the tests of network-resources-injector pin, as pairs of a pod and the networks of a cluster, under the base
//! `nri-compat`. The pairs are listed in `docs/network-resources-injector.md`, where it says what differs.

use crate::support::generated_world::World;
use crate::support::suite::{Outcome, Suite};
use crate::support::{golden, read, root};
use fabric_admission::facts::EnforcementMode;
use fabric_admission::review::Stage;
use fabric_admission::review::decide_webhook_request::{WebhookEntry, decide_body_for_anyone};
use serde_json::{Value, json};
use std::fmt::Write;

const NETWORKS: &str = "k8s.v1.cni.cncf.io/networks";
const FOO: &str = "example.com/foo";

/// A network of the cluster: namespace, name, resource, node selector.
type Definition = (&'static str, &'static str, Option<&'static str>, Option<&'static str>);

/// The result for the pod.
#[derive(Clone, Copy)]
enum Then {
    /// Refused, with a text that holds this.
    Denied(&'static str),
    /// Admitted: units of the resource, and the node selector.
    Admitted(i64, &'static [(&'static str, &'static str)]),
}

struct Pair {
    /// Place in the injector's tests.
    id: &'static str,
    what: &'static str,
    /// Name of the trial.
    name: &'static str,
    definitions: &'static [Definition],
    namespace: &'static str,
    annotation: &'static str,
    then: Then,
    /// What the injector does, where it differs.
    differs: Option<&'static str>,
}

const HERE: &[Definition] = &[("default", "foo-network", Some(FOO), None)];
const ELSEWHERE: &[Definition] = &[("mysterious", "foo-network", Some(FOO), None)];
const MANY: &[Definition] = &[
    ("team", "net", Some(FOO), None),
    ("default", "net", Some(FOO), None),
    ("team", "other", Some(FOO), None),
];
const LABEL: (&str, &str) = ("kubernetes.io/hostname", "worker-1");
const HOSTNAME: Option<&str> = Some("kubernetes.io/hostname=worker-1");
const WORDS: Option<&str> = Some(
    "the injector also refuses the pod. The message of fabric-admission names the network, the problem and the fix",
);
const BAD_REQUEST: Option<&str> = Some(
    "the injector answers HTTP 400, so the injector's failurePolicy decides. The message of fabric-admission gives the \
     reason",
);

#[rustfmt::skip]
const PAIRS: &[Pair] = &[
    Pair { id: "A1", name: "no_network", what: "the network does not exist, and the pod is in default", definitions: &[], namespace: "default",
        annotation: "foo-network", then: Then::Denied("default/foo-network does not exist"), differs: WORDS },
    Pair { id: "A2", name: "network_elsewhere", what: "the network is in another namespace", definitions: ELSEWHERE, namespace: "default",
        annotation: "foo-network", then: Then::Denied("default/foo-network does not exist"), differs: WORDS },
    Pair { id: "A3", name: "pod_elsewhere", what: "the network is in default, and the pod is in another namespace", definitions: HERE, namespace: "mysterious",
        annotation: "foo-network", then: Then::Denied("mysterious/foo-network does not exist"), differs: WORDS },
    Pair { id: "A4", name: "one", what: "one network in default", definitions: HERE, namespace: "default",
        annotation: "foo-network", then: Then::Admitted(1, &[]), differs: None },
    Pair { id: "A5", name: "two", what: "the same network twice", definitions: HERE, namespace: "default",
        annotation: "foo-network,foo-network", then: Then::Admitted(2, &[]), differs: None },
    Pair { id: "A6", name: "custom_namespace", what: "one network in the pod's namespace, which is not default", definitions: ELSEWHERE, namespace: "mysterious",
        annotation: "foo-network", then: Then::Admitted(1, &[]), differs: None },
    Pair { id: "A7", name: "no_token", what: "automountServiceAccountToken: false, so the pod has no volume and no mount", definitions: HERE, namespace: "default",
        annotation: "foo-network", then: Then::Admitted(1, &[]), differs: Some("the injector also adds the volume `podnetinfo`") },
    Pair { id: "B1", name: "selector", what: "a network with a node selector and without a resource", definitions: &[("default", "foo-network", None, HOSTNAME)], namespace: "default",
        annotation: "foo-network", then: Then::Admitted(0, &[LABEL]), differs: None },
    Pair { id: "B2", name: "selector_and_resource", what: "a network with a node selector and a resource", definitions: &[("default", "foo-network", Some(FOO), HOSTNAME)], namespace: "default",
        annotation: "foo-network", then: Then::Admitted(1, &[LABEL]), differs: None },
    Pair { id: "B3", name: "selector_in_custom_namespace", what: "a network outside default, with a node selector and a resource", definitions: &[("mysterious", "foo-network", Some(FOO), HOSTNAME)], namespace: "mysterious",
        annotation: "foo-network", then: Then::Admitted(1, &[LABEL]), differs: None },
    Pair { id: "F1", name: "empty", what: "an empty annotation", definitions: MANY, namespace: "team",
        annotation: "", then: Then::Admitted(0, &[]), differs: Some("the injector answers HTTP 400. Multus attaches no network for an empty annotation, so the pod needs no change") },
    Pair { id: "F2", name: "namespace_name_interface", what: "an annotation with namespace, name and interface", definitions: MANY, namespace: "team",
        annotation: "default/net@eth1", then: Then::Admitted(1, &[]), differs: None },
    Pair { id: "F3", name: "name_interface", what: "an annotation with name and interface", definitions: MANY, namespace: "team",
        annotation: "net@eth1", then: Then::Admitted(1, &[]), differs: None },
    Pair { id: "F4", name: "name", what: "an annotation with only a name", definitions: MANY, namespace: "team",
        annotation: "net", then: Then::Admitted(1, &[]), differs: None },
    Pair { id: "F5", name: "namespace_name", what: "an annotation with namespace and name", definitions: MANY, namespace: "team",
        annotation: "default/net", then: Then::Admitted(1, &[]), differs: None },
    Pair { id: "F6", name: "several", what: "an annotation with several networks, in every form", definitions: MANY, namespace: "team",
        annotation: "default/net@eth1,net@eth2, other , team/net", then: Then::Admitted(4, &[]), differs: None },
    Pair { id: "F7", name: "slashes", what: "an annotation with two slashes in a name", definitions: MANY, namespace: "team",
        annotation: "default/net/x", then: Then::Denied("does not have the form [namespace/]name[@interface]"), differs: BAD_REQUEST },
    Pair { id: "F8", name: "ats", what: "an annotation with two at signs in a name", definitions: MANY, namespace: "team",
        annotation: "net@eth1@eth2", then: Then::Denied("does not have the form [namespace/]name[@interface]"), differs: BAD_REQUEST },
    Pair { id: "F9", name: "good_and_bad", what: "an annotation with a valid and an invalid name", definitions: MANY, namespace: "team",
        annotation: "net, default/NET", then: Then::Denied("\"NET\", which is not valid"), differs: BAD_REQUEST },
    Pair { id: "F10", name: "object", what: "an annotation with a JSON object", definitions: MANY, namespace: "team",
        annotation: r#"{"name":"net","namespace":"team"}"#, then: Then::Denied("not a list"), differs: BAD_REQUEST },
    Pair { id: "F11", name: "list", what: "an annotation with a JSON list", definitions: MANY, namespace: "team",
        annotation: r#"[{"name":"net","namespace":"default"},{"name":"other"}]"#, then: Then::Admitted(2, &[]), differs: None },
];

pub(crate) fn add(suite: &mut Suite) {
    for pair in PAIRS {
        suite.add(format!("resources_injector::{}_{}", pair.id.to_lowercase(), pair.name), || run(pair));
    }
    suite.add("resources_injector::the_page_lists_the_pairs", page);
    suite.add("resources_injector::the_container_with_accelerators_gets_the_units", || {
        let trainer = json!({"name": "b", "resources": {"limits": {"nvidia.com/gpu": "8"}}});
        let (pod, findings) =
            admitted(HERE, "default", "foo-network", json!([{"name": "a"}, trainer]), json!({}))?;
        assert_eq!((units(&pod, 0), units(&pod, 1)), (0, 1), "{pod}");
        assert!(!findings.contains(&"FAB802"), "{findings:?}");
        // Nothing else of a profile comes with it.
        let container = &pod["spec"]["containers"][1];
        assert!(
            container["env"].is_null()
                && container["securityContext"].is_null()
                && pod["spec"]["volumes"].is_null()
        );
        Ok(())
    });
    suite.add("resources_injector::a_proxy_is_passed_over", || {
        let (pod, _) = admitted(
            HERE,
            "default",
            "foo-network",
            json!([{"name": "istio-proxy"}, {"name": "app"}]),
            json!({}),
        )?;
        assert_eq!((units(&pod, 0), units(&pod, 1)), (0, 1), "{pod}");
        Ok(())
    });
    suite.add("resources_injector::too_few_units_are_raised", || {
        let asked = json!([{"name": "a", "resources": {"limits": {FOO: "1"}, "requests": {FOO: "1"}}}]);
        let (pod, _) = admitted(HERE, "default", "foo-network, foo-network", asked, json!({}))?;
        assert_eq!(units(&pod, 0), 2, "{pod}");
        Ok(())
    });
    suite.add("resources_injector::a_node_selector_of_the_pod_is_kept_and_reported", || {
        let definitions = &[("default", "foo-network", None, HOSTNAME)];
        let own = json!({"kubernetes.io/hostname": "n9", "zone": "a"});
        let (pod, findings) =
            admitted(definitions, "default", "foo-network", json!([{"name": "a"}]), own.clone())?;
        assert_eq!(pod["spec"]["nodeSelector"], own);
        assert!(findings.contains(&"FAB104"), "{findings:?}");
        Ok(())
    });
    suite.add("resources_injector::networks_of_other_namespaces_are_not_read", || {
        let (pod, findings) =
            admitted(ELSEWHERE, "team", "mysterious/foo-network", json!([{"name": "a"}]), json!({}))?;
        assert_eq!(units(&pod, 0), 0, "{pod}");
        assert!(findings.contains(&"FAB104"), "{findings:?}");
        let (same, _) = admitted(&[], "team", "mysterious/foo-network", json!([{"name": "a"}]), json!({}))?;
        assert_eq!(pod, same, "a pod learns whether the network exists");
        Ok(())
    });
    suite.add("resources_injector::absent_networks_of_the_own_namespace_and_of_default_are_reported", || {
        let containers = || json!([{"name": "a"}]);
        for network in ["foo-network", "default/foo-network"] {
            let asks = pod("team", network, containers(), json!({}));
            let answer = called(&world(ELSEWHERE, "team"), "team", asks)?;
            assert!(answer.is_err_and(|text| text.contains("FAB104")), "{network}");
        }
        Ok(())
    });
    suite.add("resources_injector::what_is_no_resource_is_not_asked", || {
        for odd in ["foo", "cpu", "kubernetes.io/x", "a.io/b c", "a/b/c"] {
            let definitions = [("default", "foo-network", Some(odd), None)];
            let (pod, _) =
                admitted(&definitions, "default", "foo-network", json!([{"name": "a"}]), json!({}))?;
            assert!(pod["spec"]["containers"][0]["resources"].is_null(), "{odd}: {pod}");
        }
        Ok(())
    });
    suite.add("resources_injector::a_webhook_that_did_not_run_is_reported", || {
        let world = world(HERE, "default");
        let decision = world.decide_as(
            &pod("default", "foo-network", json!([{"name": "a"}]), json!({})),
            Stage::Final,
            EnforcementMode::Enforce,
        );
        assert!(decision.unwrap().findings.iter().any(|f| f.rule == "FAB802"));
        Ok(())
    });
    suite.add("resources_injector::other_pods_of_the_namespace_are_none_of_its_business", || {
        let mut plain = pod("default", "", json!([{"name": "a"}]), json!({}));
        plain["metadata"]["annotations"] = json!({});
        assert!(!world(HERE, "default").decide_on(&plain).unwrap().in_scope);
        Ok(())
    });
}

fn world(definitions: &[(&str, &str, Option<&str>, Option<&str>)], namespace: &str) -> World {
    let network = |namespace: &str, name: &str, resource: Option<&str>, selector: Option<&str>| {
        let mut annotations = json!({});
        for (key, value) in [("resourceName", resource), ("nodeSelector", selector)] {
            if let Some(value) = value {
                annotations[format!("k8s.v1.cni.cncf.io/{key}")] = value.into();
            }
        }
        json!({
            "apiVersion": "k8s.cni.cncf.io/v1", "kind": "NetworkAttachmentDefinition",
            "metadata": {"namespace": namespace, "name": name, "annotations": annotations}, "spec": {"config": r#"{"type":"sriov"}"#},
        })
    };
    // One that no pod names, so that the networks count as listed.
    let mut objects = vec![network("default", "unrelated", None, None)];
    objects.extend(
        definitions.iter().map(|(ns, name, resource, selector)| network(ns, name, *resource, *selector)),
    );
    let profile = json!({
        "apiVersion": "fabric-admission.dev/v1alpha1", "kind": "FabricProfile", "metadata": {"name": "own"},
        "spec": {"base": "nri-compat"},
    });
    World::new(&json!({
        "profiles": [profile], "objects": objects, "namespaceKnown": true, "mutate": true,
        "namespace": {"name": namespace, "annotations": {"fabric-admission.dev/profile": "own"}},
    }))
}

fn pod(namespace: &str, annotation: &str, containers: Value, selector: Value) -> Value {
    let mut pod = json!({
        "metadata": {"name": "p", "namespace": namespace, "annotations": {NETWORKS: annotation}},
        "spec": {"automountServiceAccountToken": false, "containers": containers},
    });
    if selector.as_object().is_some_and(|s| !s.is_empty()) {
        pod["spec"]["nodeSelector"] = selector;
    }
    pod
}

fn review(namespace: &str, pod: &Value) -> Vec<u8> {
    json!({
        "apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview",
        "request": {
            "uid": "u", "kind": {"group": "", "version": "v1", "kind": "Pod"}, "namespace": namespace,
            "operation": "CREATE", "object": pod, "oldObject": null,
        },
    })
    .to_string()
    .into_bytes()
}

/// Both entries, as the API server calls them: the final pod, or the text of the denial.
fn called(
    world: &World,
    namespace: &str,
    mut pod: Value,
) -> Result<Result<(Value, Vec<&'static str>), String>, String> {
    let denied = |decision: &fabric_admission::review::Decision| {
        decision.denied.then(|| {
            fabric_admission::review::admission_response::denial_message_with_warnings(&decision.findings)
        })
    };
    let call = |entry, pod: &Value| {
        decide_body_for_anyone(&review(namespace, pod), entry, &world.snapshot)
            .map(|o| o.decision)
            .map_err(|e| e.to_string())
    };
    let first = call(WebhookEntry::Mutate, &pod)?;
    if let Some(text) = denied(&first) {
        return Ok(Err(text));
    }
    let patch = first.patch.text();
    let patch: json_patch::Patch = serde_json::from_str(patch).map_err(|e| e.to_string())?;
    json_patch::patch(&mut pod, &patch).map_err(|e| e.to_string())?;
    let again = call(WebhookEntry::Mutate, &pod)?;
    if !again.patch.is_empty() {
        return Err(format!("patched again: {:?}", again.patch));
    }
    let last = call(WebhookEntry::Validate, &pod)?;
    Ok(denied(&last).map_or_else(|| Ok((pod, last.findings.iter().map(|f| f.rule).collect())), Err))
}

fn admitted(
    definitions: &[(&str, &str, Option<&str>, Option<&str>)],
    namespace: &str,
    annotation: &str,
    containers: Value,
    selector: Value,
) -> Result<(Value, Vec<&'static str>), String> {
    called(&world(definitions, namespace), namespace, pod(namespace, annotation, containers, selector))?
}

/// Units of a container once the API server has copied limits into absent requests; both must be equal.
fn units(pod: &Value, index: usize) -> i64 {
    let resources = &pod["spec"]["containers"][index]["resources"];
    let of = |list: &str| resources[list][FOO].as_str().and_then(|u| u.parse::<i64>().ok());
    let limit = of("limits");
    assert!(of("requests").is_none() || of("requests") == limit, "{resources}");
    limit.unwrap_or(0)
}

fn run(pair: &Pair) -> Outcome {
    let world = world(pair.definitions, pair.namespace);
    let containers = json!([{"name": "first"}, {"name": "second"}]);
    let before = pod(pair.namespace, pair.annotation, containers, json!({}));
    match (pair.then, called(&world, pair.namespace, before.clone())?) {
        (Then::Denied(words), Err(text)) if text.contains(words) => Ok(()),
        (Then::Admitted(expected, selector), Ok((mut after, _))) => {
            assert_eq!((units(&after, 0), units(&after, 1)), (expected, 0), "{after}");
            let mut expected_pod = before.clone();
            if expected > 0 {
                expected_pod["spec"]["containers"][0]["resources"] =
                    json!({"limits": {FOO: expected.to_string()}});
            }
            for (key, value) in selector {
                expected_pod["spec"]["nodeSelector"][*key] = (*value).into();
            }
            // And not a byte beyond.
            // Our mark on a pod that is changed; the injector has none.
            let mark = after["metadata"]["annotations"]
                .as_object_mut()
                .and_then(|a| a.shift_remove("fabric-admission.dev/injected"));
            assert_eq!(mark.is_some(), after != before);
            assert_eq!(after, expected_pod);
            Ok(())
        }
        (_, outcome) => Err(format!("{}: {outcome:?}", pair.what).into()),
    }
}

fn page() -> Outcome {
    let mut table =
        String::from("\n| pair | case | here | same result as the injector |\n| --- | --- | --- | --- |\n");
    for pair in PAIRS {
        let then = match pair.then {
            Then::Denied(words) => format!("refused: {words}"),
            Then::Admitted(0, []) => "admitted without changes".to_owned(),
            Then::Admitted(units, selector) => {
                let mut what: Vec<String> = selector.iter().map(|(k, v)| format!("`{k}: {v}`")).collect();
                if units > 0 {
                    what.insert(0, format!("`{FOO}: {units}`"));
                }
                what.join(", ")
            }
        };
        let same = pair.differs.unwrap_or("yes");
        writeln!(table, "| {} | {} | {then} | {same} |", pair.id, pair.what).map_err(|e| e.to_string())?;
    }
    let path = root().join("docs/network-resources-injector.md");
    let text = read(&path)?;
    let (start, end) = ("<!-- pairs -->\n", "<!-- end of pairs -->");
    let (head, rest) = text.split_once(start).ok_or("no place for the pairs")?;
    let (_, tail) = rest.split_once(end).ok_or("no end of the pairs")?;
    Ok(golden(&path, Some(&format!("{head}{start}{table}\n{end}{tail}")))?)
}

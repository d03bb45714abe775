//! What all objects of one kind in one namespace take, when a tenant has as many as the limit of a namespace allows: the sum
//! in docs/reliability.md counts so much for each kind.

use crate::support::suite::{Outcome, Suite};
use fabric_admission::review::{PodRequest, decide_pod};
use fabric_admission::rules::Severity;
use fabric_admission::snapshot::{Builder, FactError, Layer, Settings};
use serde_json::{Value, json};

/// The limit of one kind in one namespace, by its estimate (bytes).
const ROOM: i64 = 16 << 20;
/// Most that the program asks the allocator for (bytes). The allocator itself takes a little more.
const MOST: i64 = ROOM;
/// Least, so that tenants are not limited far below what the memory allows. Networks count with the length of their JSON, of
/// which long texts are not kept.
const LEAST: i64 = 1 << 20;

/// An object that a tenant writes, by its number.
type Make = fn(usize) -> Value;

pub(super) fn add(suite: &mut Suite) {
    let shapes: [(&str, &'static str, Make); 9] = [
        ("claims_with_long_names", "ResourceClaim", |nth| claim(&long(nth), nth)),
        ("claims", "ResourceClaim", |nth| claim(&format!("c{nth}"), nth)),
        ("templates_of_many_requests", "ResourceClaimTemplate", many_requests),
        ("templates_with_networks", "ResourceClaimTemplate", with_networks),
        ("templates_with_drivers", "ResourceClaimTemplate", with_drivers),
        ("domains", "ComputeDomain", domain),
        ("short_networks", "NetworkAttachmentDefinition", |nth| network(&format!("n{nth}"), "")),
        ("networks_with_long_names", "NetworkAttachmentDefinition", |nth| network(&long(nth), "")),
        ("long_networks", "NetworkAttachmentDefinition", |nth| {
            network(&format!("n{nth}"), &"x".repeat(9_000))
        }),
    ];
    suite.add("memory::a_full_room_is_no_way_around", no_way_around);
    for (name, kind, make) in shapes {
        suite.add(format!("memory::room_of_{name}"), move || room(kind, make));
    }
}

fn room(kind: &str, make: Make) -> Outcome {
    let group = match kind {
        "ComputeDomain" => "resource.nvidia.com",
        "NetworkAttachmentDefinition" => "k8s.cni.cncf.io",
        _ => "resource.k8s.io",
    };
    let mut kept = Vec::with_capacity(4);
    let mut number = 0;
    let taken = allocation_counter::measure(|| {
        let mut builder = Builder::default();
        let operator_namespaces = Some(["ops".to_owned()].into());
        builder.replace_settings(Settings { operator_namespaces, ..Settings::default() });
        let mut put = |nth: usize| {
            let object = make(nth).to_string();
            builder.add(Layer::Live, group, kind, &object, "team").map(drop)
        };
        while number < 100_000 && put(number).is_ok() {
            number += 1;
        }
        let full = put(number);
        assert!(matches!(full, Err(FactError::Full { .. })), "{kind}: no limit after {number}");
        // The one in use, and the next one, which is made before the first is given up.
        let first = builder.build();
        builder.remove(
            Layer::Live,
            group,
            kind,
            "team",
            make(0).pointer("/metadata/name").unwrap().as_str().unwrap(),
        );
        let second = builder.build();
        kept.push((builder, first, second));
    });
    let bytes = taken.bytes_current;
    eprintln!("{kind}: {number} objects, {} kB, {} bytes each", bytes >> 10, bytes / number as i64);
    assert!(bytes <= MOST, "{kind}: {number} objects take {bytes} bytes, and the room is {ROOM}");
    assert!(bytes >= LEAST, "{kind}: {number} objects take only {bytes} bytes of {ROOM}");
    Ok(())
}

/// A tenant fills the room with templates, and the next one is for eight GPUs and a network of another tenant. The webhook does
/// not know it, and refuses what it would refuse if it knew it.
fn no_way_around() -> Outcome {
    let mut builder = Builder::default();
    let operator_namespaces = Some(["ops".to_owned()].into());
    builder.replace_settings(Settings {
        operator_namespaces,
        namespace_isolation: true,
        ..Settings::default()
    });
    let profile = json!({"apiVersion": "fabric-admission.dev/v1alpha1", "kind": "FabricProfile", "metadata": {"name": "strict"}, "spec": {"transport": "ethernet", "attachment": "none",
        "nodeSelector": {"matchLabels": {"pool": "a"}}, "env": [{"name": "NCCL_ALGO", "policy": "forbid"}]}});
    let node = json!({"metadata": {"name": "n", "labels": {"pool": "a"}}, "status": {"allocatable": {"nvidia.com/gpu": "8"}}});
    builder.add(Layer::Live, "fabric-admission.dev", "FabricProfile", &profile.to_string(), "")?;
    builder.add(Layer::Live, "", "Node", &node.to_string(), "")?;
    let decide = |builder: &mut Builder| -> Result<Vec<(&str, Severity)>, String> {
        let pod = json!({"metadata": {"name": "p"}, "spec": {"resourceClaims": [{"name": "c", "resourceClaimTemplateName": "gpus"}],
            "containers": [{"name": "t", "image": "i", "env": [{"name": "NCCL_ALGO", "value": "Ring"}],
                "resources": {"claims": [{"name": "c"}]}}]}});
        let request = PodRequest::in_enforcing_namespace("team");
        let decision = decide_pod(&pod.to_string(), request, &builder.build()).map_err(|e| e.message)?;
        let found = decision.findings.into_iter().map(|f| (f.rule, f.severity));
        Ok(found.filter(|(rule, _)| matches!(*rule, "FAB150" | "FAB403")).collect())
    };
    // Before: a claim that is created later is not known either.
    assert_eq!(decide(&mut builder)?, [("FAB403", Severity::Warning)]);
    let full = (0..100_000).any(|nth| {
        let object = many_requests(nth).to_string();
        builder.add(Layer::Live, "resource.k8s.io", "ResourceClaimTemplate", &object, "team").is_err()
    });
    assert!(full);
    let refused = [("FAB150", Severity::Error), ("FAB403", Severity::Error)];
    assert_eq!(decide(&mut builder)?, refused);
    // A ComputeDomain says that its channel has a template of this name: the template that is there may be another.
    let domain = json!({"metadata": meta("d"), "spec": {"numNodes": 0, "channel": {"resourceClaimTemplate": {"name": "gpus"}}}});
    builder.add(Layer::Live, "resource.nvidia.com", "ComputeDomain", &domain.to_string(), "team")?;
    assert_eq!(decide(&mut builder)?, refused);
    Ok(())
}

/// A name as long as Kubernetes allows.
fn long(nth: usize) -> String {
    format!("{nth:06}{}", "n".repeat(247))
}

fn meta(name: &str) -> Value {
    json!({"name": name, "namespace": "team"})
}

fn claim(name: &str, nth: usize) -> Value {
    // Each with a class of its own, so that they have nothing in common.
    let exactly = json!({"deviceClassName": format!("class-{nth}"), "count": 1});
    json!({"metadata": meta(name), "spec": {"devices": {"requests": [{"name": "r", "exactly": exactly}]}}})
}

fn template(name: &str, devices: Value) -> Value {
    json!({"metadata": meta(name), "spec": {"spec": {"devices": devices}}})
}

fn many_requests(nth: usize) -> Value {
    let ask = |a: usize| json!({"name": format!("a{a}"), "deviceClassName": format!("c{nth}")});
    let request =
        |r: usize| json!({"name": format!("r{r}"), "firstAvailable": (0..8).map(ask).collect::<Vec<_>>()});
    template(&format!("t{nth}"), json!({"requests": (0..32).map(request).collect::<Vec<_>>()}))
}

fn with_networks(nth: usize) -> Value {
    let opaque = |o: usize| {
        let network = format!("{o}{}", long(nth).get(2..).unwrap());
        let parameters =
            json!({"kind": "VfConfig", "netAttachDefName": network, "netAttachDefNamespace": network});
        json!({"opaque": {"driver": "sriovnetwork.k8snetworkplumbingwg.io", "parameters": parameters}})
    };
    template(&format!("t{nth}"), json!({"requests": [], "config": (0..16).map(opaque).collect::<Vec<_>>()}))
}

fn with_drivers(nth: usize) -> Value {
    let driver = format!("{nth}.{}", "d".repeat(50));
    let selector = json!({"cel": {"expression": format!("device.driver == \"{driver}\"")}});
    let request = |r: usize| json!({"name": format!("r{r}"), "exactly": {"deviceClassName": "c", "selectors": [selector]}});
    template(&format!("t{nth}"), json!({"requests": (0..16).map(request).collect::<Vec<_>>()}))
}

fn domain(nth: usize) -> Value {
    let template = json!({"name": format!("t{}", long(nth).get(1..).unwrap())});
    json!({"metadata": meta(&long(nth)), "spec": {"numNodes": 0, "channel": {"resourceClaimTemplate": template}}})
}

fn network(name: &str, text: &str) -> Value {
    let config = json!({"cniVersion": "1.0.0", "plugins": [{"type": "sriov", "master": text, "ipam": {"type": "whereabouts", "range": "10.0.0.0/16"}}, {"type": "rdma"}]});
    let mut meta = meta(name);
    meta["annotations"] = json!({"k8s.v1.cni.cncf.io/resourceName": "example.com/rdma"});
    json!({"metadata": meta, "spec": {"config": config.to_string()}})
}

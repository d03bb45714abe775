//! Network objects: refused when new and wrong, never locked in.

use super::support::plane::Plane;
use super::support::site::Site;
use super::trial;
use crate::support::suite::{Outcome, Suite};
use serde_json::{Value, json};
use std::path::Path;

pub(super) fn add(suite: &mut Suite, assets: &Path) {
    trial(suite, assets, "a_vfio_policy_with_rdma_is_refused", refused);
    trial(suite, assets, "a_network_that_no_plugin_can_serve_is_refused", unusable);
    trial(suite, assets, "an_existing_bad_policy_can_change_lose_its_finalizer_and_go", ratchet);
}

fn policy(name: &str, device_type: &str) -> Value {
    json!({"apiVersion": "sriovnetwork.openshift.io/v1", "kind": "SriovNetworkNodePolicy",
        "metadata": {"name": name, "finalizers": ["example.com/hold"]},
        "spec": {"deviceType": device_type, "isRdma": true, "numVfs": 8, "resourceName": "r"}})
}

fn refused(plane: &Plane) -> Outcome {
    let namespace = plane.namespace(&[])?;
    {
        let site = Site::start(plane, &[], &["--network-objects", "enforce"])?;
        let bad = site.create(&namespace, &policy("bad", "vfio-pci"), &["--dry-run=server"])?;
        assert!(!bad.ok && bad.stderr.contains("FAB301"), "{}", bad.stderr);
        assert!(site.create(&namespace, &policy("good", "netdevice"), &["--dry-run=server"])?.ok);
    }
    let site = Site::start(plane, &[], &[])?;
    let warned = site.create(&namespace, &policy("bad", "vfio-pci"), &["--dry-run=server"])?;
    assert!(warned.ok && warned.stderr.contains("Warning: FAB301"), "{}", warned.stderr);
    Ok(())
}

fn unusable(plane: &Plane) -> Outcome {
    let namespace = plane.namespace(&[])?;
    let site = Site::start(plane, &[], &["--network-objects", "enforce"])?;
    let network = |config: &str| {
        json!({"apiVersion": "k8s.cni.cncf.io/v1", "kind": "NetworkAttachmentDefinition",
            "metadata": {"name": "n"}, "spec": {"config": config}})
    };
    let bad = site.create(&namespace, &network("{\"plugins\":[]}"), &["--dry-run=server"])?;
    assert!(!bad.ok && bad.stderr.contains("FAB103"), "{}", bad.stderr);
    let good = site.create(
        &namespace,
        &network("{\"type\":\"macvlan\",\"master\":\"ens1f0np0\"}"),
        &["--dry-run=server"],
    )?;
    assert!(good.ok && !good.stderr.contains("FAB"), "{}", good.stderr);
    // Multus then reads the configuration from the node.
    let unknown = site.create(&namespace, &network(""), &["--dry-run=server"])?;
    assert!(unknown.ok && !unknown.stderr.contains("FAB"), "{}", unknown.stderr);
    Ok(())
}

fn ratchet(plane: &Plane) -> Outcome {
    let namespace = plane.namespace(&[])?;
    let created =
        plane.kubectl(&["create", "-n", &namespace, "-f", "-"], &policy("old", "vfio-pci").to_string())?;
    assert!(created.ok, "{}", created.stderr);
    let site = Site::start(plane, &[], &["--network-objects", "enforce"])?;
    let patch = |body: &str| {
        plane.kubectl(
            &["patch", "sriovnetworknodepolicy", "old", "-n", &namespace, "--type=merge", "-p", body],
            "",
        )
    };
    let labelled = patch(r#"{"metadata":{"labels":{"a":"b"}}}"#)?;
    assert!(labelled.ok, "{}", labelled.stderr);
    let resized = patch(r#"{"spec":{"numVfs":4}}"#)?;
    assert!(resized.ok, "{}", resized.stderr);
    let deleted =
        plane.kubectl(&["delete", "sriovnetworknodepolicy", "old", "-n", &namespace, "--wait=false"], "")?;
    assert!(deleted.ok, "{}", deleted.stderr);
    let freed = patch(r#"{"metadata":{"finalizers":null}}"#)?;
    assert!(freed.ok, "{}", freed.stderr);
    plane.until("the policy is gone", std::time::Duration::from_secs(10), || {
        Ok(!plane.kubectl(&["get", "sriovnetworknodepolicy", "old", "-n", &namespace], "")?.ok)
    })?;
    assert!(site.requests("objects")? >= 2);
    Ok(())
}

//! Other versions: of objects, of the FabricProfile CRD, and of the API server. `FABRIC_ADMISSION_ASSETS_<version>` is a
//! directory with the binaries of another version of Kubernetes, as `KUBEBUILDER_ASSETS`.

use super::crd_of_profiles;
use super::profile_status::{NAMESPACE, account};
use super::support::plane::Plane;
use super::support::site::{PROFILE_LABEL, Site, assert_fitted, training_pod};
use super::{break_glass, pods_of_people, trial, webhook_away, works_without_the_webhook};
use crate::support::server::Server;
use crate::support::suite::{Outcome, Suite};
use crate::support::{read, root};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::time::Duration;

const VARIABLE: &str = "FABRIC_ADMISSION_ASSETS_";

pub(super) fn add(suite: &mut Suite, assets: &Path) {
    trial(suite, assets, "an_object_of_another_version_is_judged", equivalent);
    trial(suite, assets, "tolerations_for_added_resources_are_added", tolerations);
    trial(suite, assets, "an_older_crd_is_enough", older_crd);
    trial(suite, assets, "fields_of_a_newer_crd_are_reported", newer_crd);
    let others: Vec<(String, PathBuf)> = std::env::vars_os()
        .filter_map(|(key, value)| {
            Some((key.to_str()?.strip_prefix(VARIABLE)?.to_ascii_lowercase(), PathBuf::from(value)))
        })
        .collect();
    if others.is_empty() {
        suite.missing(
            "no other version of Kubernetes; set FABRIC_ADMISSION_ASSETS_<version>",
            "e2e::older_and_newer_versions",
        );
    }
    for (version, assets) in others {
        suite.add(format!("e2e::version_{version}"), move || {
            let plane = Plane::start(&assets)?;
            eprintln!("{}", plane.kubectl(&["version"], "")?.stdout.replace('\n', "; "));
            for test in CORE {
                test(&plane)?;
            }
            Ok(())
        });
    }
}

/// What every version must do.
const CORE: [fn(&Plane) -> Outcome; 8] = [
    pods_of_people::whole_set,
    pods_of_people::audit,
    pods_of_people::not_asked,
    webhook_away::mutate_away,
    webhook_away::server_away,
    works_without_the_webhook::existing,
    break_glass::stop,
    equivalent,
];

/// `matchPolicy: Equivalent`: a rule on one version is asked about all, with the object in the version of the rule.
fn equivalent(plane: &Plane) -> Outcome {
    let version = |name: &str, storage: bool| {
        json!({"name": name, "served": true, "storage": storage,
            "schema": {"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": true}}})
    };
    let crd = |versions: Value| {
        json!({"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
            "metadata": {"name": "sriovnetworknodepolicies.sriovnetwork.openshift.io"},
            "spec": {"group": "sriovnetwork.openshift.io", "scope": "Namespaced", "versions": versions,
                "names": {"plural": "sriovnetworknodepolicies", "singular": "sriovnetworknodepolicy", "kind": "SriovNetworkNodePolicy"}}})
    };
    plane.apply(&crd(json!([version("v1", true), version("v1beta1", false)])).to_string())?;
    let judged = (|| {
        let site = Site::start(plane, &[], &["--network-objects", "enforce"])?;
        let namespace = plane.namespace(&[])?;
        let policy = json!({"apiVersion": "sriovnetwork.openshift.io/v1beta1", "kind": "SriovNetworkNodePolicy",
            "metadata": {"name": "p"}, "spec": {"deviceType": "vfio-pci", "isRdma": true, "numVfs": 8, "resourceName": "r"}});
        plane.until("the other version is judged", Duration::from_secs(20), || {
            let refused = site.create(&namespace, &policy, &["--dry-run=server"])?;
            Ok(!refused.ok && refused.stderr.contains("FAB301"))
        })
    })();
    plane.apply(&crd(json!([version("v1", true)])).to_string())?;
    Ok(judged?)
}

/// The plugin ExtendedResourceToleration runs again after our patch: pods get the toleration for what was added.
fn tolerations(plane: &Plane) -> Outcome {
    plane.kill_api_server();
    plane.start_api_server_with(&["--enable-admission-plugins=ExtendedResourceToleration"])?;
    let tolerated = (|| {
        let site = Site::start(plane, &[], &[])?;
        let namespace = plane.namespace(&[PROFILE_LABEL])?;
        let created = site.create(&namespace, &training_pod("p"), &[])?;
        if !created.ok {
            return Err(created.stderr);
        }
        plane.get(&["pod", "p", "-n", &namespace])
    })();
    plane.kill_api_server();
    plane.start_api_server()?;
    let pod = tolerated?;
    assert_fitted(&pod);
    for resource in ["nvidia.com/gpu", "nvidia.com/sriov_resource"] {
        let has = |t: &Value| t["key"] == resource && t["operator"] == "Exists";
        assert!(
            pod["spec"]["tolerations"].as_array().is_some_and(|all| all.iter().any(has)),
            "{resource}: {pod}"
        );
    }
    Ok(())
}

/// Profiles and the CRD of a trial; the CRD is the present one again when this is dropped.
struct Restore<'a>(&'a Plane);

impl Drop for Restore<'_> {
    fn drop(&mut self) {
        let crd = "fabricprofiles.fabric-admission.dev";
        let _ = self.0.kubectl(&["delete", "crd", crd, "--wait=true"], "");
        let _ = crd_of_profiles::install(self.0);
    }
}

/// A CRD in place of the present one, and a server that follows the cluster.
fn with_crd(plane: &Plane, crd: &str) -> Result<Server, String> {
    plane.kubectl(
        &["delete", "crd", "fabricprofiles.fabric-admission.dev", "--ignore-not-found", "--wait=true"],
        "",
    )?;
    plane.apply(crd)?;
    plane.until("FabricProfiles are served", Duration::from_secs(30), || {
        Ok(plane.kubectl(&["get", "fabricprofiles"], "")?.ok)
    })?;
    let kubeconfig = account(plane)?;
    Server::start(
        &[],
        &["--kubeconfig", &kubeconfig, "--profile-status", "--watch-retry", "0.2", "--lame-duck", "0"],
    )
}

fn profile(name: &str, spec: &Value) -> Value {
    json!({"apiVersion": "fabric-admission.dev/v1alpha1", "kind": "FabricProfile", "metadata": {"name": name}, "spec": spec})
}

/// Waits for a status about the object as it is.
fn status(plane: &Plane, name: &str) -> Result<Value, String> {
    let mut found = Value::Null;
    plane.until("the status is about the profile as it is", Duration::from_secs(30), || {
        found = plane.get(&["fprof", name])?;
        Ok(found["status"]["observedGeneration"] == found["metadata"]["generation"])
    })?;
    Ok(found)
}

/// A new server with the CRD of an earlier one: the API server drops what that CRD does not know, and the server does not
/// write it over and over.
fn older_crd(plane: &Plane) -> Outcome {
    let _restore = Restore(plane);
    let server = with_crd(plane, &read(&root().join("tests/recorded/fabricprofiles-older.yaml"))?)?;
    plane.apply(&profile("p", &json!({"base": "ethernet-tcp"})).to_string())?;
    let object = status(plane, "p")?;
    assert!(object["status"]["notes"].is_null() && object["status"]["problems"].is_null(), "{object}");
    let writes = || server.metric("fabric_admission_status_writes_total");
    let before = writes()?;
    // Something else changes, so that statuses are looked at again.
    plane.apply(&profile("q", &json!({"base": "ethernet-tcp"})).to_string())?;
    status(plane, "q")?;
    std::thread::sleep(Duration::from_secs(3));
    assert!(writes()? <= before + 2.0, "{} after {before}", writes()?);
    let pod = crate::support::server::review("u", ("", "Pod"), "CREATE", &named("p"));
    let answer = server.post("/mutate", pod.to_string().as_bytes())?.json()?;
    assert!(answer["response"]["patch"].is_string(), "{answer}");
    assert_eq!(NAMESPACE, "fabric-admission");
    Ok(())
}

fn named(profile: &str) -> Value {
    let mut pod = training_pod("p");
    pod["metadata"]["annotations"]["fabric-admission.dev/profile"] = json!(profile);
    pod
}

/// An old server with the CRD of a later one: it does not use a profile with a field that it does not know, says so, and uses
/// the others.
fn newer_crd(plane: &Plane) -> Outcome {
    let _restore = Restore(plane);
    let present = read(&root().join("deploy/crds/fabricprofiles.yaml"))?;
    let crd = present.replacen(
        "              acceleratorsPerNode:\n",
        "              fieldOfTomorrow:\n                type: boolean\n              acceleratorsPerNode:\n",
        1,
    );
    assert_ne!(crd, present);
    let server = with_crd(plane, &crd)?;
    plane.apply(&profile("new", &json!({"base": "ethernet-tcp", "fieldOfTomorrow": true})).to_string())?;
    plane.apply(&profile("old", &json!({"base": "ethernet-tcp"})).to_string())?;
    let object = status(plane, "new")?;
    let problem = &object["status"]["problems"][0];
    assert!(
        problem["message"].as_str().is_some_and(|text| text.contains("fieldOfTomorrow"))
            || problem["pointer"].to_string().contains("fieldOfTomorrow"),
        "{object}"
    );
    assert!(status(plane, "old")?["status"]["problems"].is_null());
    for (name, used) in [("old", true), ("new", false)] {
        let pod = crate::support::server::review("u", ("", "Pod"), "CREATE", &named(name));
        let answer = server.post("/mutate", pod.to_string().as_bytes())?.json()?;
        assert_eq!(answer["response"]["patch"].is_string(), used, "{name}: {answer}");
    }
    Ok(())
}

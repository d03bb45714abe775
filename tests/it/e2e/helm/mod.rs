//! The chart on a real API server: install, upgrade, roll back and uninstall, with each Helm of the machine, while pods are
//! created. No create fails.

mod creates;
pub(super) mod egress;
mod first_week;
pub(super) mod kubelet;
mod previous;
mod quick_start;

use super::support::plane::Plane;
use super::support::site::{PROFILE_LABEL, cpu_pod, training_pod};
use super::trial;
use crate::support::helm::{Helm, chart, found};
use crate::support::suite::{Need, Outcome, Suite};
use crate::support::{Scratch, run};
use creates::Creates;
use egress::Egress;
use kubelet::Kubelet;
use serde_json::{Value, json};
use std::path::Path;
use std::time::Duration;

pub(super) fn add(suite: &mut Suite, assets: &Path) {
    if suite.need(Need::Helm, "e2e::helm").is_none() {
        return;
    }
    if !assets.join("kube-controller-manager").is_file() {
        suite.missing("no kube-controller-manager, which creates the chart's pods", "e2e::helm");
        return;
    }
    trial(suite, assets, "helm_quick_start_of_the_readme", quick_start);
    trial(suite, assets, "helm_first_week_of_the_docs", first_week::trial);
    trial(suite, assets, "helm_installs_upgrades_rolls_back_and_removes_under_creates", life);
}

const NAMESPACE: &str = "fabric-helm";
const RELEASE: &str = "site";
const CONFIGURATIONS: &str = "mutatingwebhookconfigurations,validatingwebhookconfigurations";

/// A network that the profile's pods use.
const NETWORK: &str = "apiVersion: k8s.cni.cncf.io/v1\nkind: NetworkAttachmentDefinition\n\
    metadata: {name: sriov-rdma-network, namespace: default, annotations: {k8s.v1.cni.cncf.io/resourceName: nvidia.com/sriov_resource}}\n\
    spec: {config: '{\"cniVersion\": \"1.0.0\", \"type\": \"sriov\"}'}\n";

/// Nothing of another installation is there: neither of a trial before, nor of kubectl.
pub(super) struct Cleared<'a>(&'a Plane);

impl<'a> Cleared<'a> {
    pub(super) fn new(plane: &'a Plane) -> Self {
        let cleared = Self(plane);
        cleared.clear();
        cleared
    }

    fn clear(&self) {
        let delete = |args: &[&str]| {
            let _ = self.0.kubectl(&[&["delete", "--ignore-not-found", "--wait=true"], args].concat(), "");
        };
        delete(&[CONFIGURATIONS, "--all"]);
        delete(&["clusterroles,clusterrolebindings", "fabric-admission", "fabric-admission-certificates"]);
        delete(&["namespace", "fabric-admission-test"]);
        delete(&["crd", "fabricprofiles.fabric-admission.dev"]);
        let all = "deployments,replicasets,pods,secrets,configmaps,services,leases,pdb,networkpolicies,roles,\
            rolebindings,serviceaccounts";
        for namespace in [NAMESPACE, "fabric-admission"] {
            delete(&[all, "--all", "-n", namespace]);
        }
        delete(&["namespace", "training", "fabric", "fabric-admission-check"]);
    }
}

impl Drop for Cleared<'_> {
    fn drop(&mut self) {
        self.clear();
        let _ = self.0.kubectl(&["delete", "-f", "-"], NETWORK);
    }
}

/// The threads end, however a trial ends.
struct Stop<'a>(&'a Kubelet<'a>, &'a [&'a Creates<'a>]);

impl Drop for Stop<'_> {
    fn drop(&mut self) {
        self.1.iter().for_each(|creates| creates.stop());
        self.0.stop();
    }
}

fn life(plane: &Plane) -> Outcome {
    for program in found() {
        let helm = Helm::new(&program, Some(plane.directory().join("kubeconfig")))?;
        let _cleared = Cleared::new(plane);
        plane.apply(NETWORK)?;
        // As a cluster has it that labels all its namespaces.
        plane.apply(&format!(
            "apiVersion: v1\nkind: Namespace\nmetadata: {{name: {NAMESPACE}, labels: {{{}: {}}}}}\n",
            PROFILE_LABEL.0, PROFILE_LABEL.1
        ))?;
        let egress = Egress::start(plane)?;
        let kubelet = Kubelet::new(plane, &egress, NAMESPACE);
        let plain = Creates::new(plane, &plane.namespace(&[])?, cpu_pod("plain"));
        let enforced = Creates::new(plane, &plane.namespace(&[PROFILE_LABEL])?, training_pod("gpu"));
        let story = std::thread::scope(|scope| {
            let both = [&plain, &enforced];
            let stop = Stop(&kubelet, &both);
            let pods = scope.spawn(|| kubelet.run());
            scope.spawn(|| plain.run());
            let story = steps(plane, &helm, [&plain, &enforced], || drop(scope.spawn(|| enforced.run())));
            drop(stop);
            pods.join().map_err(|_| "the kubelet panicked")?.and(story)
        });
        eprintln!("helm {}: {:?} {:?}", helm.major, plain.outcomes(), enforced.outcomes());
        story.map_err(|e| format!("helm {}: {e}", helm.major))?;
        for ((step, outcome), _) in plain.outcomes() {
            assert_eq!(outcome, "created", "helm {}, {step}", helm.major);
        }
        for ((step, outcome), _) in enforced.outcomes() {
            // From the uninstallation on, pods are created as their manifests state.
            let expected = outcome == "fitted" || (step == "uninstall" && outcome == "created");
            assert!(expected, "helm {}, {step}: {outcome}", helm.major);
        }
    }
    Ok(())
}

/// What the quick start expects of a cluster: the network of its profile.
const FABRIC: &str = "apiVersion: v1\nkind: Namespace\nmetadata: {name: fabric}\n---\n\
    apiVersion: k8s.cni.cncf.io/v1\nkind: NetworkAttachmentDefinition\n\
    metadata: {name: sriov-rdma, namespace: fabric, annotations: {k8s.v1.cni.cncf.io/resourceName: openshift.io/roce_rails}}\n\
    spec: {config: '{\"cniVersion\": \"1.0.0\", \"type\": \"sriov\"}'}\n";

fn quick_start(plane: &Plane) -> Outcome {
    for program in found() {
        let helm = Helm::new(&program, Some(plane.directory().join("kubeconfig")))?;
        let _cleared = Cleared::new(plane);
        plane.apply(FABRIC)?;
        let egress = Egress::start(plane)?;
        let kubelet = Kubelet::new(plane, &egress, "fabric-admission");
        std::thread::scope(|scope| {
            let stop = Stop(&kubelet, &[]);
            let pods = scope.spawn(|| kubelet.run());
            let text = quick_start::section("README.md", "## Quick start on a cluster")?;
            let done = quick_start::run(plane, &helm, &text, |_| Ok(()));
            drop(stop);
            pods.join().map_err(|_| "the kubelet panicked")?.and(done)
        })
        .map_err(|e| format!("helm {}: {e}", helm.major))?;
    }
    Ok(())
}

/// Runs helm, which must succeed; what it prints.
fn done(helm: &Helm, args: &[&str]) -> Result<String, String> {
    let done = helm.run(&[args, &["-n", NAMESPACE, "--timeout", "90s"]].concat())?;
    if done.code == 0 {
        Ok(done.stdout)
    } else {
        Err(format!("helm {}: {}{}", args[0], done.stdout, done.stderr))
    }
}

fn steps(
    plane: &Plane,
    helm: &Helm,
    creates: [&Creates<'_>; 2],
    start_enforced: impl FnOnce(),
) -> Result<(), String> {
    let step = |name| {
        creates.iter().for_each(|c| c.step(name));
        std::time::Instant::now()
    };
    let scratch = Scratch::new()?;
    let (previous, current) = (previous::write(&scratch)?, chart());
    let (previous, current) =
        (previous.to_string_lossy().into_owned(), current.to_string_lossy().into_owned());
    let values = |tc: &str| json!({"profiles": {"h100": {"base": "roce-sriov", "env": [{"name": "NCCL_IB_TC", "value": tc}]}}});
    let write = |name: &str, values: &Value| -> Result<String, String> {
        scratch.write(name, values.to_string())?;
        Ok(scratch.path().join(name).to_string_lossy().into_owned())
    };
    let (first, second) = (write("first.json", &values("105"))?, write("second.json", &values("106"))?);
    let has = |name: &str| Ok::<_, String>(column(plane)? == (name == "current"));

    let began = step("install");
    let notes = done(helm, &["install", RELEASE, &previous, "-f", &first, "--create-namespace", "--wait"])?;
    eprintln!("install: {:?}", began.elapsed());
    assert!(notes.contains("rollout status deployment/fabric-admission"), "{notes}");
    assert!(has("previous")?);
    // Not `helm --wait`, which waits for pods only: the API server has the caBundle.
    plane.until("pods are fitted", Duration::from_secs(30), || probe(plane, &creates[1].namespace()))?;
    let own = plane.kubectl(
        &["create", "-n", NAMESPACE, "--dry-run=server", "-o", "json", "-f", "-"],
        &training_pod("own").to_string(),
    )?;
    assert!(own.ok && !own.stdout.contains("rail7"), "the own namespace is excluded: {own:?}");
    let bundle = bundles(plane)?;
    start_enforced();

    let began = step("upgrade");
    done(helm, &["upgrade", RELEASE, &current, "-f", &second, "--wait"])?;
    eprintln!("upgrade: {:?}", began.elapsed());
    assert!(has("current")?);
    same_bundles(plane, &bundle)?;
    std::thread::sleep(Duration::from_secs(2));

    let began = step("rollback");
    done(helm, &["rollback", RELEASE, "1", "--wait"])?;
    eprintln!("rollback: {:?}", began.elapsed());
    same_bundles(plane, &bundle)?;
    std::thread::sleep(Duration::from_secs(2));

    let began = step("upgrade again");
    done(helm, &["upgrade", RELEASE, &current, "-f", &second, "--wait"])?;
    eprintln!("upgrade again: {:?}", began.elapsed());
    same_bundles(plane, &bundle)?;
    std::thread::sleep(Duration::from_secs(2));

    step("test");
    // With the values of the user: a profile beside the one of the test.
    let shown = done(helm, &["test", RELEASE])?;
    assert!(shown.contains("Succeeded"), "{shown}");
    assert!(
        !plane.kubectl(&["get", "pod", "fabric-admission-test", "-n", NAMESPACE], "")?.ok,
        "it leaves nothing"
    );
    // It finds what is wrong: the check of final pods is missing.
    let kind = "validatingwebhookconfiguration/fabric-admission";
    let first = r#"[{"op": "remove", "path": "/webhooks/0"}]"#;
    assert!(plane.kubectl(&["patch", kind, "--type=json", "-p", first], "")?.ok);
    std::thread::sleep(Duration::from_secs(1));
    let (kubeconfig, namespace) = (plane.directory().join("kubeconfig"), creates[1].namespace());
    let probe = ["probe", "--namespace", &namespace, "--profile", "h100", "--timeout", "1", "--kubeconfig"];
    let probe = run(&[&probe[..], &[&kubeconfig.to_string_lossy()]].concat(), b"", plane.directory())?;
    assert!(probe.code == 1 && probe.stdout.lines().count() == 1, "{probe:?}");
    assert!(probe.stderr.contains("Check that the webhook enforce.fabric-admission.dev exists"), "{probe:?}");

    let began = step("uninstall");
    done(helm, &["uninstall", RELEASE])?;
    eprintln!("uninstall: {:?}", began.elapsed());
    // No controller of this plane collects what a Deployment leaves.
    plane.kubectl(&["delete", "replicasets,pods", "--all", "-n", NAMESPACE], "")?;
    std::thread::sleep(Duration::from_secs(3));
    let left = plane.kubectl(&["get", CONFIGURATIONS, "-o", "name"], "")?;
    assert_eq!(left.stdout, "");
    assert!(plane.kubectl(&["get", "crd", "fabricprofiles.fabric-admission.dev"], "")?.ok, "the CRD is kept");
    Ok(())
}

/// Whether the CRD has what the previous one has not.
fn column(plane: &Plane) -> Result<bool, String> {
    let crd = plane.get(&["crd", "fabricprofiles.fabric-admission.dev"])?;
    Ok(crd["spec"]["versions"][0]["additionalPrinterColumns"].to_string().contains(".status.matchingNodes"))
}

/// Whether a pod of the namespace would be fitted.
fn probe(plane: &Plane, namespace: &str) -> Result<bool, String> {
    let args = ["create", "-n", namespace, "--dry-run=server", "-o", "json", "-f", "-"];
    Ok(plane.kubectl(&args, &training_pod("probe").to_string())?.stdout.contains("rail7"))
}

/// Every caBundle of both configurations, of which none is empty.
fn bundles(plane: &Plane) -> Result<Vec<String>, String> {
    let listed = plane.get(&[CONFIGURATIONS])?;
    let mut bundles = Vec::new();
    for configuration in listed["items"].as_array().ok_or("no configurations")? {
        for webhook in configuration["webhooks"].as_array().ok_or("no webhooks")? {
            let bundle = webhook["clientConfig"]["caBundle"].as_str().unwrap_or_default();
            assert!(!bundle.is_empty(), "{webhook}");
            bundles.push(bundle.to_owned());
        }
        for manager in configuration["metadata"]["managedFields"].as_array().into_iter().flatten() {
            let owns = manager["fieldsV1"].to_string().contains("caBundle");
            assert!(!owns || manager["manager"] != "helm", "{manager}");
        }
    }
    Ok(bundles)
}

/// Helm has neither removed nor changed a caBundle.
fn same_bundles(plane: &Plane, before: &[String]) -> Result<(), String> {
    if bundles(plane)? == before { Ok(()) } else { Err("a caBundle has changed".to_owned()) }
}

//! docs/first-week.md, word for word: from the first `doctor --pre` to mode enforce and back.

use super::super::doctor::{Door, Stop, own_address, ready_multus, serve_door, slice};
use super::egress::Egress;
use super::kubelet::Kubelet;
use super::quick_start;
use super::{Cleared, Helm};
use crate::e2e::support::plane::Plane;
use crate::support::helm::found;
use crate::support::suite::Outcome;
use crate::support::{read, root};
use std::net::{IpAddr, Ipv4Addr, SocketAddr, TcpListener};
use std::sync::atomic::AtomicBool;

/// What the page expects of a cluster: Multus, the network of its profile, and a node with the profile's resource.
const FABRIC: &str = "apiVersion: v1\nkind: Namespace\nmetadata: {name: fabric}\n---\n\
    apiVersion: k8s.cni.cncf.io/v1\nkind: NetworkAttachmentDefinition\n\
    metadata: {name: sriov-rdma, namespace: fabric, annotations: {k8s.v1.cni.cncf.io/resourceName: openshift.io/roce_rails}}\n\
    spec: {config: '{\"cniVersion\": \"1.0.0\", \"type\": \"sriov\"}'}\n---\n\
    apiVersion: v1\nkind: Node\nmetadata: {name: first-week-gpu}\n\
    status: {allocatable: {cpu: '64', nvidia.com/gpu: '8', openshift.io/roce_rails: '8'}}\n---\n\
    apiVersion: apps/v1\nkind: DaemonSet\nmetadata: {name: kube-multus-ds, namespace: kube-system}\n\
    spec: {selector: {matchLabels: {app: multus}}, template: {metadata: {labels: {app: multus}}, \
    spec: {containers: [{name: kube-multus, image: 'ghcr.io/k8snetworkplumbingwg/multus-cni:v4'}]}}}\n";

/// What the trial leaves beside the installation.
struct Gone<'a>(&'a Plane);

impl Drop for Gone<'_> {
    fn drop(&mut self) {
        let delete =
            |args: &[&str]| drop(self.0.kubectl(&[&["delete", "--ignore-not-found"], args].concat(), ""));
        delete(&["node", "first-week-gpu"]);
        delete(&["ds", "kube-multus-ds", "-n", "kube-system"]);
        delete(&["endpointslices", "--all", "-n", "fabric-admission"]);
    }
}

pub(super) fn trial(plane: &Plane) -> Outcome {
    for program in found() {
        let helm = Helm::new(&program, Some(plane.directory().join("kubeconfig")))?;
        let _cleared = Cleared::new(plane);
        let _gone = Gone(plane);
        plane.apply(FABRIC)?;
        ready_multus(plane)?;
        with_endpoints(plane, &helm).map_err(|e| format!("helm {}: {e}", helm.major))?;
    }
    Ok(())
}

/// Runs the page while the pods of the chart run.
fn with_endpoints(plane: &Plane, helm: &Helm) -> Result<(), String> {
    let egress = Egress::start(plane)?;
    let listener = TcpListener::bind((Ipv4Addr::UNSPECIFIED, 0)).map_err(|e| e.to_string())?;
    let port = listener.local_addr().map_err(|e| e.to_string())?.port();
    let ip = own_address().unwrap_or(IpAddr::V4(Ipv4Addr::new(203, 0, 113, 1)));
    let door = Door { address: SocketAddr::new(ip, port) };
    let over = AtomicBool::new(false);
    let kubelet = Kubelet::new(plane, &egress, "fabric-admission");
    let page = read(&root().join("docs/first-week.md"))?;
    std::thread::scope(|scope| {
        let stop = Stop { kubelet: &kubelet, over: &over, port };
        let pods = scope.spawn(|| kubelet.run());
        scope.spawn(|| serve_door(&listener, &egress, &over));
        let done = quick_start::run(plane, helm, &page, |commands| {
            // The plane gives no pod an address, so nobody else makes endpoints.
            if commands.contains("doctor --wait") { plane.apply(&slice(&door)).map(drop) } else { Ok(()) }
        });
        drop(stop);
        pods.join().map_err(|_| "the kubelet panicked")?.and(done)
    })
}

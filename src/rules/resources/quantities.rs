//! FAB2xx: quantities and RDMA resources.

use crate::pod::view::Container;
use crate::pod::{Quantity as Amount, QuantityError};
use crate::rules::devices::Need;
use crate::rules::paths::annotation_path;
use crate::rules::{Findings, Meta, PodContext, Rule, Severity, Waiver};
use crate::text::{count, printable, token};

/// FAB201.
pub(super) struct Quantity;

static QUANTITY: Meta = Meta {
    id: "FAB201",
    severity: Severity::Error,
    summary: "resource quantity that the API server refuses",
    what: "A quantity of any container that is no Kubernetes quantity, a placeholder that nothing has replaced \
           (`$GPUS`, `{{ … }}`, `__N__`), a negative one, an extended resource that is no whole number, or one whose \
           request differs from its limit.",
    why: "The API server refuses the pod. Inside a Job or another workload it shows only as `FailedCreate` events, and \
          no pod ever appears.",
    fix: "Render the template; write whole numbers for extended resources, and limits alone are enough.",
    bad: r"apiVersion: v1
kind: Pod
metadata: {name: trainer}
spec:
  containers:
  - name: trainer
    image: example.com/trainer:1
    resources:
      limits:
        nvidia.com/gpu: $GPUS
    volumeMounts: [{name: dshm, mountPath: /dev/shm}]
  volumes:
  - name: dshm
    emptyDir: {medium: Memory, sizeLimit: 64Gi}
",
    good: r"apiVersion: v1
kind: Pod
metadata: {name: trainer}
spec:
  containers:
  - name: trainer
    image: example.com/trainer:1
    resources:
      limits:
        nvidia.com/gpu: 8
    volumeMounts: [{name: dshm, mountPath: /dev/shm}]
  volumes:
  - name: dshm
    emptyDir: {medium: Memory, sizeLimit: 64Gi}
",
    sources: &[
        "k8s.io/apimachinery pkg/api/resource/quantity.go",
        "k8s.io/kubernetes pkg/apis/core/validation (ValidateResourceRequirements)",
    ],
    since: "0.1.0",
    kinds: &[],
    also: &["RES-001"],
    waiver: Waiver::Api,
};

impl Rule for Quantity {
    fn meta(&self) -> &'static Meta {
        &QUANTITY
    }
    fn pod(&self, context: &PodContext<'_>, findings: &mut Findings<'_>) {
        for (field, containers) in
            [("containers", context.pod().containers()), ("initContainers", context.pod().init_containers())]
        {
            for (index, container) in containers.iter().enumerate() {
                check_quantities(&format!("/spec/{field}/{index}/resources"), container, findings);
            }
        }
    }
}

fn check_quantities(at: &str, container: &Container<'_>, findings: &mut Findings<'_>) {
    for (field, list) in [("limits", container.limits()), ("requests", container.requests())] {
        for (name, text) in list.iter().flat_map(|l| l.iter()) {
            let parsed = Amount::parse(&text.0);
            let wrong = match parsed {
                Err(QuantityError::Placeholder) => Some((
                    "is a placeholder that nothing has replaced",
                    "render the template before applying it",
                )),
                Err(QuantityError::Grammar) => Some((
                    "is no Kubernetes quantity",
                    "write a number with an optional suffix, such as 8, 500m or 64Gi",
                )),
                Ok(q) if q.is_negative() => Some(("is below zero", "write 0 or more")),
                Ok(q) if is_extended(name) && !q.is_integer() => {
                    Some(("is no whole number, which an extended resource must be", "write a whole number"))
                }
                Ok(_) => None,
            };
            let path = || format!("{at}/{field}/{}", token(name));
            if let Some((what, fix)) = wrong {
                findings.add(
                    path(),
                    format!("{}: {:?} {what}", printable(name, 80), printable(&text.0, 40)),
                    fix,
                );
            } else if let Ok(request) = parsed
                && field == "requests"
                && (is_extended(name) || name.starts_with("hugepages-"))
            {
                check_pair(&path, name, request, container, findings);
            }
        }
    }
}

/// The request of an extended resource must have a limit and equal it.
fn check_pair(
    path: &dyn Fn() -> String,
    name: &str,
    request: Amount,
    container: &Container<'_>,
    findings: &mut Findings<'_>,
) {
    let resource = || printable(name, 80);
    match container.limits().and_then(|l| l.get(name)).map(|t| Amount::parse(&t.0)) {
        None => findings.add(
            path(),
            format!(
                "{}: a request without a limit, which the API server refuses for {}",
                resource(),
                if is_extended(name) { "extended resources" } else { "huge pages" }
            ),
            "write the limit; the request follows from it",
        ),
        Some(Ok(limit)) if limit != request => findings.add(
            path(),
            format!("{}: request {} differs from limit {}", resource(), request.units(), limit.units()),
            "make them equal, or write the limit alone",
        ),
        Some(_) => {}
    }
}

/// Whether a resource is an extended one: a name with a domain that is not Kubernetes' own.
fn is_extended(name: &str) -> bool {
    name.split_once('/')
        .is_some_and(|(domain, _)| domain != "kubernetes.io" && !domain.ends_with(".kubernetes.io"))
}

/// FAB202.
pub(super) struct FewerUnits;

static FEWER_UNITS: Meta = Meta {
    id: "FAB202",
    severity: Severity::Error,
    summary: "fewer device units than network attachments that need them",
    what: "Counts the attachments of the networks annotation whose NetworkAttachmentDefinition takes a device of a \
           resource, and the units of it that the pod's containers ask. A network named twice counts twice. A warning \
           where no unit is asked at all, since network-resources-injector may add them, where only a plain init \
           container asks, where the containers ask the same name behind another prefix (`nvidia.com/x` for \
           `openshift.io/x`), and where there are units enough for the attachments that certainly need one: not those of a \
           CNI plugin that is not known, and not those whose configuration names a device of its own, which stays where \
           none is allocated. Networks of macvlan, ipvlan and IPoIB take no device.",
    why: "Multus hands each attachment the next allocated device; the one left without gets none, and the CNI plugin \
          fails the sandbox with `VF pci addr is required`. The pod never starts.",
    fix: "Ask as many units as there are attachments, on the container that uses them.",
    bad: r#"apiVersion: k8s.cni.cncf.io/v1
kind: NetworkAttachmentDefinition
metadata:
  name: rdma-net
  namespace: training
  annotations: {k8s.v1.cni.cncf.io/resourceName: openshift.io/rdma_vf}
spec: {config: '{"type": "sriov"}'}
---
apiVersion: v1
kind: Pod
metadata:
  name: trainer
  namespace: training
  annotations:
    k8s.v1.cni.cncf.io/networks: rdma-net, rdma-net
spec:
  containers:
  - name: trainer
    image: example.com/trainer:1
    resources: {limits: {nvidia.com/gpu: 1, openshift.io/rdma_vf: 1}}
"#,
    good: r#"apiVersion: k8s.cni.cncf.io/v1
kind: NetworkAttachmentDefinition
metadata:
  name: rdma-net
  namespace: training
  annotations: {k8s.v1.cni.cncf.io/resourceName: openshift.io/rdma_vf}
spec: {config: '{"type": "sriov"}'}
---
apiVersion: v1
kind: Pod
metadata:
  name: trainer
  namespace: training
  annotations:
    k8s.v1.cni.cncf.io/networks: rdma-net, rdma-net
spec:
  containers:
  - name: trainer
    image: example.com/trainer:1
    resources: {limits: {nvidia.com/gpu: 1, openshift.io/rdma_vf: 2}}
"#,
    sources: &[
        "k8snetworkplumbingwg/multus-cni pkg/k8sclient/k8sclient.go",
        "k8snetworkplumbingwg/sriov-network-device-plugin#258, #310, #490",
        "kubernetes/kubernetes#120501 (devices of init containers)",
    ],
    since: "0.1.0",
    kinds: &[],
    also: &["RES-002", "RES-004", "RES-008"],
    waiver: Waiver::Allowed,
};

impl Rule for FewerUnits {
    fn meta(&self) -> &'static Meta {
        &FEWER_UNITS
    }
    fn pod(&self, context: &PodContext<'_>, findings: &mut Findings<'_>) {
        let pod = context.pod();
        // A claim may bring the devices (DRA); whether it does is not known from the pod alone.
        let claims =
            pod.spec.as_ref().and_then(|s| s.resource_claims.as_deref()).is_some_and(|c| !c.is_empty());
        if pod.host_network() || claims {
            return;
        }
        for need in &context.devices().needs {
            if need.units() < need.attachments {
                tell(need, findings);
            }
        }
    }
}

fn tell(need: &Need<'_>, findings: &mut Findings<'_>) {
    let Need { shown, attachments, .. } = need;
    let units = need.units();
    let takes = count(usize::try_from(*attachments).unwrap_or(usize::MAX), "unit");
    let fix = format!("set limit {shown}: {attachments} on the container that uses the network");
    if let Some((holder, name, _)) = need.holders.iter().find(|(holder, ..)| !holder.runs() && units == 0) {
        findings.add_as(
            Severity::Warning,
            format!("{}/resources/limits/{}", holder.path(), token(name)),
            format!("only an init container asks {name}, of which the networks take {takes}: Multus does not see its devices"),
            fix,
        );
        return;
    }
    if let Some(namesake) = need.namesake.filter(|_| units == 0) {
        findings.add_as(
            Severity::Warning,
            annotation_path(),
            format!("the networks take {takes} of {shown}, the containers ask {namesake}: Multus hands out no device"),
            format!("ask {shown}, as annotation k8s.v1.cni.cncf.io/resourceName of the network has it"),
        );
        return;
    }
    // Not an error where another webhook may still add the units, or where those may suffice that certainly need one.
    let short = units > 0 && need.certain_attachments > units;
    let severity = if short { Severity::Error } else { Severity::Warning };
    findings.add_as(
        severity,
        annotation_path(),
        format!(
            "the networks take {takes} of {shown}, the containers ask {units}: a CNI plugin gets no device"
        ),
        fix,
    );
}

//! FAB509: hostPath /dev/infiniband in a container without access to the node's RDMA devices.

use crate::pod::Container;
use crate::rules::finding::{FindingsOfRule, Severity};
use crate::rules::pod_context::PodContext;
use crate::rules::pointers_in_pod;
use crate::rules::rule_declaration::{Rule, files};
use crate::rules::rules_in_cel::{Cel, CelCheck, CelCondition};
use std::collections::BTreeSet;

pub(super) static RULE: Rule = Rule {
    id: "FAB509",
    severity: Severity::Warning,
    files: files!(),
    pod: Some(check),
    cel: Some(cel),
    ..Rule::DEFAULT
};

/// Directory of the device files of verbs.
const VERBS: &str = "/dev/infiniband";

fn check(context: &PodContext<'_>, findings: &mut FindingsOfRule<'_>) {
    let pod = context.pod();
    let is_verbs =
        |path: &str| path.strip_prefix(VERBS).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'));
    let volumes: BTreeSet<&str> = pod
        .volumes()
        .iter()
        .filter(|v| v.host_path.as_ref().and_then(|h| h.path.as_deref()).is_some_and(is_verbs))
        .filter_map(|v| v.name.as_deref())
        .collect();
    if volumes.is_empty() {
        return;
    }
    let accelerators = &context.subject.snapshot.settings().accelerators;
    for (index, container) in pod.containers().iter().enumerate() {
        let mounts = container.volume_mounts().iter();
        let mount = mounts.enumerate().find(|(_, m)| m.name.as_deref().is_some_and(|n| volumes.contains(n)));
        let Some((at, _)) = mount.filter(|_| !container.privileged()) else { continue };
        let resources = container.resource_names();
        let claims = container.resources.as_ref().and_then(|r| r.claims.as_deref());
        let leave = resources.filter(|n| n.contains('/')).any(|n| !accelerators.contains(n))
            || claims.is_some_and(|c| !c.is_empty())
            || runtime_may_grant_access(container)
            || context.has_verbs_device(index);
        if !leave {
            findings.add(
                pointers_in_pod::in_container(index, format_args!("volumeMounts/{at}")),
                format!("{VERBS} of the node is mounted, but the container cannot open the devices: NCCL falls back to TCP"),
                "Request the resource of the RDMA device plugin, and remove the hostPath.",
            );
        }
    }
}

/// Whether NVIDIA's container runtime adds the RDMA devices of the node. Of all values, only `enabled` does that. The value
/// of a `valueFrom` is unknown.
fn runtime_may_grant_access(container: &Container<'_>) -> bool {
    container
        .last_entry_of_variable("NVIDIA_MOFED")
        .is_some_and(|(_, variable)| variable.literal_or_empty().is_none_or(|value| value == "enabled"))
}

fn cel() -> Cel {
    let verbs = "variables.volumes.filter(v, has(v.hostPath) && v.hostPath.path.matches('^/dev/infiniband(/|$)'))\n\
                     .map(v, v.name)";
    let shut = "variables.verbsVolumes.size() > 0 && !c.?securityContext.?privileged.orValue(false) &&\n\
                    c.?volumeMounts.orValue([]).exists(m, m.name in variables.verbsVolumes) &&\n\
                    c.?resources.?limits.orValue({}).all(k, !k.contains('/') || {accelerator}) &&\n\
                    c.?resources.?claims.orValue([]).size() == 0 &&\n\
                    !c.?env.orValue([]).exists(e, e.name == 'NVIDIA_MOFED' &&\n\
                    (has(e.valueFrom) || e.?value.orValue('') == 'enabled'))";
    let check = CelCheck {
        severity: Severity::Warning,
        wrong: CelCondition::Containers(shut.into()),
        message: "/dev/infiniband of the node is mounted, but the container cannot open the devices: NCCL falls back to TCP; request the resource of the RDMA device plugin, and remove the hostPath",
    };
    Cel { variables: vec![("verbsVolumes", verbs.into())], checks: vec![check], beyond: None }
}

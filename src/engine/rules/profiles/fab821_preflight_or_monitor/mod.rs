//! FAB821: preflight or monitor of the profile that the webhook does not add to a pod, or adds only in part.

use crate::plan::{AddedContainerRefusal, FileRefusal, NCCL_CONF_PATH};
use crate::pod::which_containers_webhook_added::{MONITOR_CONTAINER, PROGRAM_VOLUME_PATH};
use crate::rules::finding::{FindingsOfRule, Severity};
use crate::rules::pod_context::PodContext;
use crate::rules::pointers_in_pod;
use crate::rules::rule_declaration::{Rule, files};
use crate::text::escaped_and_cut;

pub(super) static RULE: Rule = Rule {
    id: "FAB821",
    severity: Severity::Warning,
    lesser: &[(Severity::Info, "only a part of preflight or of the monitor is missing")],
    files: files!(),
    pod: Some(check),
    ..Rule::DEFAULT
};

fn check(context: &PodContext<'_>, findings: &mut FindingsOfRule<'_>) {
    let Some((profile, _)) = context.resolution.profile() else { return };
    for refusal in &context.plan.in_pod_refusals {
        if let Some((severity, path, message, fix)) =
            severity_path_message_and_fix(context, &profile.name, refusal)
        {
            findings.add_with_severity(severity, path, message, fix);
        }
    }
}

fn severity_path_message_and_fix(
    context: &PodContext<'_>,
    profile: &str,
    refusal: &AddedContainerRefusal,
) -> Option<(Severity, String, String, String)> {
    let name = |index: usize| {
        let container = context.pod().containers().get(index);
        escaped_and_cut(container.map(|c| c.name()).unwrap_or_default(), 63)
    };
    let container = |index: usize, field: &str| format!("/spec/containers/{index}/{field}");
    Some(match refusal {
        AddedContainerRefusal::Name(taken) => (
            Severity::Warning,
            pointer_of_container_named(context, taken),
            format!("the webhook does not add container {taken:?} of profile {profile:?}: the pod already has a container of this name"),
            format!("Rename the pod's container {taken:?}."),
        ),
        AddedContainerRefusal::VolumeName => (
            Severity::Warning,
            "/spec/volumes".to_owned(),
            format!("volumes of the pod have the names that preflight and the monitor of profile {profile:?} need"),
            "Rename the pod's volumes whose names begin with fabric-admission.".to_owned(),
        ),
        AddedContainerRefusal::Architecture(other) => (
            Severity::Warning,
            "/spec/nodeSelector/kubernetes.io~1arch".to_owned(),
            format!(
                "preflight and monitor of profile {profile:?} are not added: their program does not run on {}",
                escaped_and_cut(other, 63)
            ),
            "Use amd64 or arm64 nodes, or ignore this finding.".to_owned(),
        ),
        AddedContainerRefusal::Path(index, mounted) => (
            Severity::Warning,
            container(*index, "volumeMounts"),
            format!(
                "container {:?} mounts {}, where preflight of profile {profile:?} keeps its files: preflight is not added",
                name(*index),
                escaped_and_cut(mounted, 80)
            ),
            format!("Mount the volume outside {PROGRAM_VOLUME_PATH} and {PROGRAM_VOLUME_PATH}-image."),
        ),
        AddedContainerRefusal::NoImage(index) => (
            Severity::Warning,
            container(*index, "image"),
            format!("container {:?} sets no image, but preflight of profile {profile:?} runs in this container's image", name(*index)),
            "Set the image in the manifest.".to_owned(),
        ),
        AddedContainerRefusal::LongSettings(index) => (
            Severity::Warning,
            container(*index, "env"),
            format!(
                "preflight of profile {profile:?} is not added: env, volumeMounts and securityContext of container {:?} exceed 256 KiB",
                name(*index)
            ),
            "Move long values to a ConfigMap.".to_owned(),
        ),
        AddedContainerRefusal::Unreadable => (
            Severity::Warning,
            "/spec".to_owned(),
            format!("preflight and monitor of profile {profile:?} are not added: the pod has a duplicate field"),
            "Remove the duplicate field.".to_owned(),
        ),
        AddedContainerRefusal::ManyResources => (
            Severity::Warning,
            "/spec/containers".to_owned(),
            format!("preflight of profile {profile:?} is not added: the containers with accelerators request more than 31 resources"),
            "Request fewer resources.".to_owned(),
        ),
        AddedContainerRefusal::Images(first, other) => (
            Severity::Info,
            container(*other, "image"),
            format!(
                "preflight runs in the image of container {:?}: the libraries in the image of container {:?} are not checked",
                name(*first),
                name(*other)
            ),
            "Use one image for both containers, or ignore this finding.".to_owned(),
        ),
        // The profile says so.
        AddedContainerRefusal::Conf(_, FileRefusal::Image) => return None,
        AddedContainerRefusal::Conf(index, why) => (
            Severity::Info,
            container(*index, "volumeMounts"),
            format!(
                "container {:?} does not get the settings that preflight finds: {NCCL_CONF_PATH} {}",
                name(*index),
                why.words()
            ),
            format!("Remove the mount that hides {NCCL_CONF_PATH}. If this is intended, ignore the finding."),
        ),
        AddedContainerRefusal::HostNetwork => (
            Severity::Info,
            "/spec/hostNetwork".to_owned(),
            format!("the webhook does not add {MONITOR_CONTAINER}: with hostNetwork, another pod of the node may use the monitor's port"),
            "Use the node's own exporter for this pod.".to_owned(),
        ),
        AddedContainerRefusal::Port(path) => (
            Severity::Warning,
            format!("{path}/ports"),
            format!("the webhook does not add {MONITOR_CONTAINER} of profile {profile:?}: another container of the pod uses the monitor's port"),
            "Change the port of the container, or ask the platform team to change monitor.port in the profile.".to_owned(),
        ),
        AddedContainerRefusal::NoRoom => (
            Severity::Info,
            "/metadata/annotations".to_owned(),
            format!("the pod's annotations leave no room for the annotations by which Prometheus finds {MONITOR_CONTAINER}"),
            "Shorten the pod's own annotations, or use a PodMonitor for port fabric-metrics.".to_owned(),
        ),
        AddedContainerRefusal::Scrape(key) => (
            Severity::Info,
            pointers_in_pod::annotation(key),
            format!("annotation {key} of the pod names another port, so Prometheus does not scrape {MONITOR_CONTAINER} by annotations"),
            "Use a PodMonitor for port fabric-metrics.".to_owned(),
        ),
    })
}

/// JSON pointer of a container by its name.
fn pointer_of_container_named(context: &PodContext<'_>, name: &str) -> String {
    let pod = context.pod();
    let lists = [("containers", pod.containers()), ("initContainers", pod.init_containers())];
    let found = lists.iter().find_map(|(list, containers)| {
        let index = containers.iter().position(|c| c.name() == name)?;
        Some(format!("/spec/{list}/{index}/name"))
    });
    found.unwrap_or_else(|| "/spec".to_owned())
}

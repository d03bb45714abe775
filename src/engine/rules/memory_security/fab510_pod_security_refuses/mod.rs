//! FAB510: pod or pod template that Pod Security of its namespace refuses.

use crate::facts::PodSecurity;
use crate::rules::finding::{FindingsOfRule, Severity};
use crate::rules::pod_context::PodContext;
use crate::rules::pointers_in_pod;
use crate::rules::rule_declaration::{PodsChecked, Rule, files};
use crate::text::escaped_and_cut;

pub(super) static RULE: Rule = Rule {
    id: "FAB510",
    severity: Severity::Warning,
    files: files!(),
    reach: PodsChecked::AnyWarns,
    pod: Some(check),
    ..Rule::DEFAULT
};

fn check(context: &PodContext<'_>, findings: &mut FindingsOfRule<'_>) {
    // Of namespaces without the label the level is a setting of the API server, which may exempt them as well.
    let Some(level) = context.subject.namespace_facts.and_then(|f| f.pod_security()) else { return };
    if level == PodSecurity::Privileged {
        return;
    }
    let pod = context.pod();
    let containers = pod.containers().iter().enumerate();
    let asked = containers.filter_map(|(index, container)| {
        let path = pointers_in_pod::in_container(index, "securityContext");
        match (container.privileged(), container.adds_capability("IPC_LOCK")) {
            (true, _) => Some((format!("{path}/privileged"), "a privileged container".to_owned())),
            (_, true) => Some((format!("{path}/capabilities/add"), "capability IPC_LOCK".to_owned())),
            _ => None,
        }
    });
    let whole = [(pod.host_network(), "hostNetwork"), (pod.host_ipc(), "hostIPC")];
    let whole =
        whole.iter().filter(|(set, _)| *set).map(|(_, key)| (format!("/spec/{key}"), (*key).to_owned()));
    let volumes = pod.volumes().iter().enumerate().filter(|(_, v)| v.host_path.is_some());
    let volumes = volumes.map(|(index, v)| {
        let name = escaped_and_cut(v.name.as_deref().unwrap_or_default(), 63);
        (format!("/spec/volumes/{index}/hostPath"), format!("hostPath volume {name:?}"))
    });
    if let Some((path, what)) = asked.chain(whole).chain(volumes).next() {
        findings.add(
            path,
            format!(
                "the pod has {what}: Pod Security level \"{level}\" of namespace {:?} refuses the pod",
                context.subject.namespace
            ),
            "Use a namespace at Pod Security level privileged, or remove this setting from the pod.",
        );
    }
}

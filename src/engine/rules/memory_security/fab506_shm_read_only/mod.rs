//! FAB506: /dev/shm mounted read-only or with a subPath.

use crate::plan::SHM_PATH;
use crate::rules::finding::{FindingsOfRule, Severity};
use crate::rules::pod_context::PodContext;
use crate::rules::pointers_in_pod;
use crate::rules::rule_declaration::{Rule, files};
use crate::rules::rules_in_cel::{Cel, CelCheck, CelCondition};
use crate::text::escaped_and_cut;

pub(super) static RULE: Rule = Rule {
    id: "FAB506",
    severity: Severity::Warning,
    lesser: &[(Severity::Info, "NCCL can write to the volume")],
    files: files!(),
    pod: Some(check),
    cel: Some(cel),
    ..Rule::DEFAULT
};

fn check(context: &PodContext<'_>, findings: &mut FindingsOfRule<'_>) {
    for (index, container) in context.app_containers_in_time() {
        let Some((at, mount)) = container.mount_at(SHM_PATH) else { continue };
        if !context.subject.demands.of_app_container(index).any && context.plan.target(index).is_none() {
            continue;
        }
        let path = pointers_in_pod::in_container(index, format_args!("volumeMounts/{at}"));
        if mount.read_only == Some(true) {
            let what = format!("{SHM_PATH} is mounted read-only: NCCL cannot create shared memory there");
            findings.add(format!("{path}/readOnly"), what, "Remove readOnly.");
        } else if let Some(sub_path) = mount.sub_path.as_deref().filter(|p| !p.is_empty()) {
            findings.add_with_severity(
                Severity::Info,
                format!("{path}/subPath"),
                format!(
                    "{SHM_PATH} is a subPath of a volume: only containers with subPath {:?} share this memory",
                    escaped_and_cut(sub_path, 60)
                ),
                "Remove subPath.",
            );
        }
    }
}

fn cel() -> Cel {
    // Of two mounts at the path, which the API server takes where one has a slash more, the first counts.
    let at = "c.?volumeMounts.orValue([]).filter(m, m.mountPath.matches('^/dev/shm/*$'))";
    let read_only = format!("{{accelerated}} && {at}.size() > 0 && {at}[0].?readOnly.orValue(false)");
    let check = CelCheck {
        severity: Severity::Warning,
        wrong: CelCondition::Containers(read_only.into()),
        message: "/dev/shm is mounted read-only: NCCL cannot create shared memory there; remove readOnly",
    };
    Cel {
        variables: Vec::new(),
        checks: vec![check],
        beyond: Some("containers to which a profile applies although they request no accelerators"),
    }
}

//! Rules: one trait, one list in the order of the ids, one folder per group, one file per subject. Documentation, `explain`,
//! `rules list` and the meta-tests come from the list, so that none of them can disagree with it.

pub mod cel;
mod cloud;
mod definition;
mod devices;
pub mod embedded;
mod examples;
mod finding;
mod inputs;
mod locate;
mod memory;
mod meta;
mod nccl;
mod networks;
mod object;
mod operators;
mod paths;
mod placement;
mod pod;
mod pod_devices;
#[cfg(test)]
mod profile_object_tests;
mod resources;
mod rule;
mod severity;
mod spoken;
pub mod suppression;
mod workload;

pub(crate) use finding::MAX_PER_RULE;
pub use finding::{Finding, Findings, Spot};
pub use meta::{Meta, Waiver};
pub use object::{Event, ObjectContext};
pub use pod::PodContext;
pub(crate) use pod::names_rdma;
pub use rule::Rule;
pub use severity::Severity;
pub use workload::{Asked, WorkloadContext, WorkloadTemplate};

use std::sync::LazyLock;

/// Every rule, by id: the groups one after the other, as the first digit of the ids has them.
pub static RULES: LazyLock<Vec<&'static dyn Rule>> = LazyLock::new(|| {
    let groups = [
        networks::RULES,
        resources::RULES,
        operators::RULES,
        nccl::RULES,
        memory::RULES,
        cloud::RULES,
        placement::RULES,
        inputs::RULES,
    ];
    groups.concat()
});

/// A rule by id, in any case.
#[must_use]
pub fn find(id: &str) -> Option<&'static dyn Rule> {
    RULES.iter().copied().find(|r| r.meta().id.eq_ignore_ascii_case(id))
}

/// Whether any rule checks objects of a kind.
#[must_use]
pub fn checks_kind(group: &str, kind: &str) -> bool {
    RULES.iter().any(|r| r.meta().kinds.contains(&(group, kind)))
}

/// Whether any rule judges what objects of a kind say, and not only whether they can be read, or used as the profile
/// they are.
#[must_use]
pub fn judges_kind(group: &str, kind: &str) -> bool {
    let judges = |r: &&dyn Rule| r.meta().kinds.contains(&(group, kind));
    let reads = |r: &&dyn Rule| {
        let own = inputs::READS_OBJECTS.map(Rule::meta);
        own.iter().any(|meta| std::ptr::eq(r.meta(), *meta))
    };
    RULES.iter().copied().filter(|r| !reads(r)).any(|r| judges(&r))
}

/// Checks a pod with every rule.
pub fn check_pod(context: &PodContext<'_>) -> Vec<Finding> {
    let mut out = Vec::new();
    for rule in RULES.iter() {
        rule.pod(context, &mut Findings::new(rule.meta(), &mut out));
    }
    out
}

/// Checks a workload with every rule.
pub fn check_workload(context: &WorkloadContext<'_>) -> Vec<Finding> {
    let mut out = Vec::new();
    for rule in RULES.iter() {
        rule.workload(context, &mut Findings::new(rule.meta(), &mut out));
    }
    out
}

/// Checks an object with the rules of its kind.
pub fn check_object(context: &ObjectContext<'_>) -> Vec<Finding> {
    let mut out = Vec::new();
    for rule in RULES.iter() {
        if rule.meta().kinds.contains(&(context.group, context.kind)) {
            let mut findings = Findings::new(rule.meta(), &mut out);
            match context.event {
                Event::Given | Event::Updated { .. } => rule.object(context, &mut findings),
                Event::Deleted => rule.deletion(context, &mut findings),
            }
        }
    }
    out
}

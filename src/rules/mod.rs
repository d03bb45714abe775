//! Rules: one trait, one list in the order of the ids, one folder per group, one file per subject. Documentation, `explain`,
//! `rules list` and the meta-tests come from the list, so that none of them can disagree with it.

pub mod cel;
mod cloud;
mod devices;
pub mod embedded;
mod examples;
mod finding;
mod inputs;
mod locate;
mod memory;
mod nccl;
mod networks;
mod object;
mod operators;
mod placement;
mod resources;
pub mod suppression;
mod workload;

pub(crate) use finding::MAX_PER_RULE;
pub use finding::{Finding, Findings, Severity, Spot};
pub use object::{Event, ObjectContext};
pub use workload::{Asked, WorkloadContext, WorkloadTemplate};

use crate::demands::Demands;
use crate::facts::NamespaceFacts;
use crate::multus::{AnnotationError, Networks};
use crate::plan::overlay::{Overlay, Variable};
use crate::plan::{Edit, Plan};
use crate::pod::gang::{self, Gang};
use crate::pod::{Container, PodView};
use crate::resolve::Resolution;
use crate::snapshot::Snapshot;
use cel::Cel;
use devices::Devices;
use nccl::Spoken;
use std::cell::OnceCell;
use std::sync::LazyLock;

/// A rule: what it is, and how it is checked.
pub trait Rule: Sync {
    /// Everything about the rule that does not depend on an object.
    fn meta(&self) -> &'static Meta;
    /// Checks a pod in scope, as it would be with the plan applied.
    fn pod(&self, _: &PodContext<'_>, _: &mut Findings<'_>) {}
    /// Checks what makes pods: its templates beside each other, and what it says of them.
    fn workload(&self, _: &WorkloadContext<'_>, _: &mut Findings<'_>) {}
    /// Checks an object of one of the kinds that [`Meta::kinds`] names.
    fn object(&self, _: &ObjectContext<'_>, _: &mut Findings<'_>) {}
    /// Checks such an object that is about to go.
    fn deletion(&self, _: &ObjectContext<'_>, _: &mut Findings<'_>) {}
    /// What of it the API server can judge by itself.
    fn cel(&self) -> Option<Cel> {
        None
    }
}

/// The static part of a rule.
#[derive(Debug)]
pub struct Meta {
    /// `FABnnn`; the first digit is the group. Never reused.
    pub id: &'static str,
    /// The most severe finding it makes.
    pub severity: Severity,
    /// One line.
    pub summary: &'static str,
    /// What it looks at and when it speaks.
    pub what: &'static str,
    /// What breaks, with the sign that is seen in logs or events.
    pub why: &'static str,
    /// What to do.
    pub fix: &'static str,
    /// A manifest it speaks about.
    pub bad: &'static str,
    /// The same manifest put right.
    pub good: &'static str,
    /// Where the fact comes from.
    pub sources: &'static [&'static str],
    /// First version that has it.
    pub since: &'static str,
    /// Group and kind of the objects it checks; empty for rules on pods.
    pub kinds: &'static [(&'static str, &'static str)],
    /// Ids of the same condition in the catalogue of field failures that docs/rules-not-taken.md goes through.
    pub also: &'static [&'static str],
    /// Whether an annotation of the pod may set its findings aside.
    pub waiver: Waiver,
}

/// Whether annotation `fabric-admission.dev/ignore.FABnnn: REASON` sets findings of a rule aside.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Waiver {
    /// With a reason; errors only where the profile allows it.
    Allowed,
    /// Never: the rule keeps tenants apart.
    Isolation,
    /// Never: the API server refuses the shape, whatever we say.
    Api,
    /// Never: the rule is about such annotations.
    Itself,
}

impl Meta {
    /// Name of the group that the id belongs to.
    #[must_use]
    pub fn group(&self) -> &'static str {
        match self.id.as_bytes().get(3) {
            Some(b'1') => "networks",
            Some(b'2') => "resources",
            Some(b'3') => "sr-iov and network operator",
            Some(b'4') => "nccl",
            Some(b'5') => "memory and security",
            Some(b'6') => "cloud fabrics",
            Some(b'7') => "placement and capacity",
            _ => "profiles and inputs",
        }
    }
}

impl Waiver {
    /// How findings of a rule are set aside, or why they are not: one sentence.
    #[must_use]
    pub fn words(self, id: &str) -> String {
        match self {
            Self::Allowed => format!(
                "annotation `fabric-admission.dev/ignore.{id}` with the reason as its value; errors only where the profile allows it"
            ),
            Self::Isolation => "never: the rule keeps namespaces apart".to_owned(),
            Self::Api => "never: the API server refuses such an object anyway".to_owned(),
            Self::Itself => "never: the rule is about such annotations".to_owned(),
        }
    }
}

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

/// What a rule on pods sees.
#[derive(Debug)]
pub struct PodContext<'a> {
    /// Whether the answer goes to the pod's owner, who may not read other namespaces.
    pub tenant_view: bool,
    /// Whether this is the final pod and nothing of the profile's networks and resources is on it.
    pub not_injected: bool,
    /// The pod or template, with the plan laid over it.
    pub overlay: Overlay<'a>,
    /// The plan.
    pub plan: &'a Plan,
    /// What the pod's containers ask of accelerators.
    pub demands: &'a Demands,
    /// How the profile was found.
    pub resolution: &'a Resolution,
    /// The networks annotation as it came; `None` where there is none.
    pub networks: Option<&'a Result<Networks<'a>, AnnotationError>>,
    /// The same with the plan laid over it.
    pub final_networks: Option<&'a Result<Networks<'a>, AnnotationError>>,
    /// Namespace of the pod.
    pub namespace: &'a str,
    /// What is known of the namespace.
    pub namespace_facts: Option<&'a NamespaceFacts>,
    /// Whether the pods of the workload around the template work together, where it says so.
    pub workload: Option<&'a Gang>,
    /// Pods that are made from the template at a time (count), where that is known.
    pub siblings: Option<u64>,
    /// Everything else that is known.
    pub snapshot: &'a Snapshot,
    /// What its containers say of NCCL's variables, once a rule has asked.
    pub(crate) spoken: OnceCell<Vec<Spoken<'a>>>,
    /// Its networks and devices, once a rule asks for them.
    pub(crate) devices: OnceCell<Devices<'a>>,
}

impl<'a> PodContext<'a> {
    /// What app containers say of variables of NCCL and its companions; those that say nothing are left out.
    pub(crate) fn spoken(&self) -> &[Spoken<'a>] {
        self.spoken.get_or_init(|| nccl::read(self))
    }

    /// Whether the pod says that it wants RDMA: by its profile, or by what it tells NCCL.
    pub(crate) fn wants_rdma(&self) -> bool {
        if self.resolution.profile().is_some_and(|(p, _)| p.transport.is_verbs()) {
            return true;
        }
        self.pod().containers().iter().enumerate().any(|(index, container)| {
            let set = |name| self.overlay.variable(index, container, name);
            set("NCCL_IB_HCA").is_some()
                || matches!(set("NCCL_NET"), Some(Variable::Value(v)) if v.eq_ignore_ascii_case("IB"))
        })
    }

    /// Its networks and devices with what is known of them.
    pub(crate) fn devices(&self) -> &Devices<'a> {
        self.devices.get_or_init(|| Devices::of(self))
    }

    /// The pod as it came.
    #[must_use]
    pub fn pod(&self) -> &'a PodView<'a> {
        self.overlay.pod()
    }

    /// Whether the pod is one of several that work together: what it says itself counts before the workload around it.
    #[must_use]
    pub fn gang(&self) -> Option<Gang> {
        gang::multi_node(self.pod()).or_else(|| self.workload.cloned())
    }

    /// What says that several pods have this template, in a few words; `None` where nothing does, or where one has.
    #[must_use]
    pub fn copies(&self) -> Option<String> {
        match self.siblings {
            Some(1) => None,
            Some(pods) => Some(format!("{pods} pods of one template")),
            None => self.gang().filter(|gang| gang.several).map(|gang| gang.words),
        }
    }

    /// Whether the profile is for an app container; without a plan, whether it asks for accelerators.
    #[must_use]
    pub fn is_target(&self, index: usize) -> bool {
        match self.plan.targets.is_empty() {
            true => self.demands.app(index).any,
            false => self.plan.target(index).is_some(),
        }
    }

    /// Resources of an app container with those that are planned; a name may come twice.
    pub(crate) fn resource_names(&self, index: usize) -> impl Iterator<Item = &'a str> {
        let own = self.pod().containers().get(index).into_iter().flat_map(Container::resource_names);
        own.chain(self.plan.of_container(index).iter().filter_map(|change| match &change.edit {
            Edit::Quantity { name, .. } => Some(name.as_str()),
            _ => None,
        }))
    }

    /// Whether an app container gets a device for RDMA, as far as names and facts tell: a resource of a
    /// profile on verbs, a resource behind a known network, or a name that says so.
    #[must_use]
    pub fn has_rdma(&self, index: usize) -> bool {
        let Some(container) = self.pod().containers().get(index) else { return false };
        let profile = self.resolution.profile().map(|(p, _)| p);
        let verbs = profile.filter(|p| p.transport.is_verbs());
        let served = |name: &str| verbs.is_some_and(|p| p.serves_resource(name)) || names_rdma(name);
        self.resource_names(index).filter(|n| served(n)).any(|n| self.overlay.units(index, container, n) > 0)
    }
}

/// Whether a resource name speaks of RDMA. The prefix alone proves little: one device plugin serves
/// `nvidia.com`, `openshift.io`, `mellanox.com`, `intel.com` and `rdma` alike.
fn names_rdma(resource: &str) -> bool {
    let Some((domain, name)) = resource.split_once('/') else { return false };
    let words = |text: &str| {
        let mut words = text.split(|c: char| !c.is_ascii_alphanumeric());
        words.any(|w| {
            matches!(w, "rdma" | "roce" | "hca")
                || w.strip_prefix("rdma").is_some_and(|n| n.parse::<u32>().is_ok())
        })
    };
    domain == "rdma" || words(name)
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

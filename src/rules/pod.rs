//! What a rule on pods sees: the pod with its plan, and the known facts about it.

use crate::fabric::Resolution;
use crate::multus::{AnnotationError, Networks};
use crate::plan::overlay::{Overlay, Variable};
use crate::plan::{Edit, Plan};
use crate::pod::gang::{self, Gang};
use crate::pod::{Container, Demands, PodView};
use crate::rules::devices::Devices;
use crate::rules::nccl::given::{self, Spoken};
use crate::snapshot::{NamespaceFacts, Snapshot};
use std::cell::OnceCell;

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
        self.spoken.get_or_init(|| given::read(self))
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
pub(super) fn names_rdma(resource: &str) -> bool {
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

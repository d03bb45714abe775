//! The context of a rule on pods: the pod with its plan, and the known facts about it.

use crate::decision_limits::DecisionLimits;
use crate::demands::Subject;
use crate::multus::{AnnotationError, RequestedNetworks};
use crate::plan::pod_with_plan::{PodWithPlan, Variable};
use crate::plan::{Edit, Plan};
use crate::pod::PodView;
use crate::pod::is_multi_node::MultiNodeEvidence;
use crate::pod::nic_resource_names::is_verbs_device_by_name;
use crate::pod::pod_fields::Container;
use crate::profile::Profile;
use crate::resolve::{IfUnknownClaimsAreAccelerators, Resolution};
use crate::rules::attachments_for_variables::FactsOfAttachments;
use crate::rules::devices_of_pod::{DeviceSources, NetworksAndDevices};
use crate::rules::shm_volumes::{MountedShmVolume, shm_volumes_of_pod};
use crate::rules::variables_of_pod::{self, ContainerVariables, VariablesOfPod};
use std::cell::OnceCell;
use std::sync::Arc;

/// Why a pod is looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WhyPodIsChecked {
    /// It requests accelerators or names a profile, so it gets what its profile has for it.
    Injection,
    /// It has networks, devices or variables of a fabric, and no accelerators: rules look at it, nothing changes it.
    Rules,
}

/// The context of a rule on pods.
#[derive(Debug)]
pub struct PodContext<'a> {
    /// The time limit.
    pub deadline: &'a DecisionLimits<'a>,
    /// Why the pod is looked at.
    pub scope: WhyPodIsChecked,
    /// Known facts about the pod or template, as it came.
    pub subject: &'a Subject<'a>,
    /// Whether this is the final pod, which the API server stores.
    pub is_final: bool,
    /// Whether this is the final pod and it has none of the profile's networks and resources.
    pub not_injected: bool,
    /// The pod with the plan laid over it.
    pub overlay: PodWithPlan<'a>,
    /// The plan.
    pub plan: &'a Plan,
    /// The stored pod, where its annotations change.
    pub before: Option<&'a PodView<'a>>,
    /// Whether ib-kubernetes may have written GUIDs into the pod's networks annotation, as it does in stored pods.
    pub may_carry_guids: bool,
    /// How the profile was found.
    pub resolution: &'a Resolution,
    /// The profiles of its nodes whose `require` and `forbid` hold beside its own.
    pub also_held: &'a [Arc<Profile>],
    /// What it would get if its claims that are not known were for accelerators.
    pub(crate) if_accelerated: &'a IfUnknownClaimsAreAccelerators,
    /// Its networks annotation with the plan laid over it.
    pub final_networks: Option<&'a Result<RequestedNetworks<'a>, AnnotationError>>,
    /// The variables of NCCL that its containers set, once a rule needs them.
    pub(crate) variables: OnceCell<VariablesOfPod<'a>>,
    /// Its networks and devices, once a rule needs them.
    pub(crate) devices: OnceCell<NetworksAndDevices<'a>>,
    /// Its volumes at `/dev/shm`, once a rule needs them.
    pub(crate) shm_volumes: OnceCell<Vec<MountedShmVolume<'a>>>,
    /// Its attachments as rules on variables see them, once a rule needs them.
    pub(crate) attachments: OnceCell<FactsOfAttachments<'a>>,
}

impl<'a> PodContext<'a> {
    /// The variables of NCCL and its companions that app containers set; containers that set none are left out.
    pub(crate) fn variables(&self) -> &[ContainerVariables<'a>] {
        &self.variables_and_limit().of_containers
    }

    /// The same, with the container from which on none are read.
    pub(crate) fn variables_and_limit(&self) -> &VariablesOfPod<'a> {
        self.variables.get_or_init(|| {
            variables_of_pod::read_variables_of_app_containers(self.overlay, self.subject, self.resolution)
        })
    }

    /// Whether the pod needs RDMA: by its profile, or by its settings of NCCL.
    pub(crate) fn needs_rdma_by_profile_or_variables(&self) -> bool {
        if self.resolution.profile().is_some_and(|(p, _)| p.transport.is_verbs()) {
            return true;
        }
        self.pod().containers().iter().enumerate().any(|(index, container)| {
            let set = |name| self.overlay.variable(index, container, name);
            set("NCCL_IB_HCA").is_some()
                || matches!(set("NCCL_NET"), Some(Variable::Value(v)) if v.eq_ignore_ascii_case("IB"))
        })
    }

    /// Its networks and devices with the known facts about them.
    pub(crate) fn devices(&self) -> &NetworksAndDevices<'a> {
        self.devices.get_or_init(|| {
            NetworksAndDevices::of(DeviceSources {
                subject: self.subject,
                plan: self.plan,
                networks: self.final_networks,
                profile: self.resolution.profile().map(|(p, _)| &**p),
            })
        })
    }

    /// Its volumes at `/dev/shm`.
    pub(crate) fn shm_volumes(&self) -> &[MountedShmVolume<'a>] {
        self.shm_volumes.get_or_init(|| shm_volumes_of_pod(self.overlay, self.subject, self.plan))
    }

    /// Its attachments as rules on variables see them.
    pub(crate) fn attachments(&self) -> &FactsOfAttachments<'a> {
        self.attachments.get_or_init(|| {
            let profile = self.resolution.profile().map(|(p, _)| &**p);
            FactsOfAttachments::of(self.subject, self.final_networks, profile)
        })
    }

    /// Its app containers with their numbers, as long as there is time.
    pub(crate) fn app_containers_in_time(&self) -> impl Iterator<Item = (usize, &'a Container<'a>)> {
        let in_time = |_: &(usize, &'a Container<'a>)| !self.deadline.is_over();
        self.pod().containers().iter().enumerate().take_while(in_time)
    }

    /// The pod as it came.
    #[must_use]
    pub fn pod(&self) -> &'a PodView<'a> {
        self.subject.pod
    }

    /// The profile, where networks are its own rails: what is wrong between them is the platform team's to fix, and the
    /// profile's status and review report it (FAB138).
    pub(crate) fn profile_if_networks_are_its_rails<'n>(
        &self,
        mut networks: impl Iterator<Item = (&'n str, &'n str)>,
    ) -> Option<&Profile> {
        let (profile, _) = self.resolution.profile()?;
        let own = |(namespace, name)| {
            profile.first_rail_on_network(namespace, name, self.subject.namespace).is_some()
        };
        networks.all(own).then_some(&**profile)
    }

    /// How the pod is one of several that work together, where it is: its own labels count before the workload's.
    #[must_use]
    pub fn multi_node_evidence(&self) -> Option<&MultiNodeEvidence> {
        self.subject.gang_of_pod_or_workload()
    }

    /// How several pods come to have this template, in a few words; `None` where nothing shows it, or where only one has.
    #[must_use]
    pub fn why_several_pods(&self) -> Option<String> {
        match self.subject.siblings {
            Some(1) => None,
            Some(pods) => Some(format!("{pods} pods of one template")),
            None => self.multi_node_evidence().filter(|gang| gang.several).map(|gang| gang.words.clone()),
        }
    }

    /// Whether the profile is for an app container; without a plan, whether it requests accelerators.
    #[must_use]
    pub fn is_target_or_requests_accelerators_without_plan(&self, index: usize) -> bool {
        match self.plan.targets.is_empty() {
            true => self.subject.demands.of_app_container(index).any,
            false => self.plan.target(index).is_some(),
        }
    }

    /// Resources of an app container with the planned ones; a name may occur twice.
    pub(crate) fn own_and_planned_resource_names(&self, index: usize) -> impl Iterator<Item = &'a str> {
        let own = self.pod().containers().get(index).into_iter().flat_map(Container::resource_names);
        own.chain(self.plan.changes_of_container(index).iter().filter_map(|change| match &change.edit {
            Edit::Quantity { name, .. } => Some(name.as_str()),
            _ => None,
        }))
    }

    /// Whether an app container gets a device for NCCL's transport over verbs, as far as names and facts show: a
    /// resource of a profile on verbs, or a name of RDMA.
    #[must_use]
    pub fn has_verbs_device(&self, index: usize) -> bool {
        let Some(container) = self.pod().containers().get(index) else { return false };
        let profile = self.resolution.profile().map(|(p, _)| p);
        let verbs = profile.filter(|p| p.transport.is_verbs());
        let served =
            |name: &str| verbs.is_some_and(|p| p.has_resource(name)) || is_verbs_device_by_name(name);
        self.own_and_planned_resource_names(index)
            .filter(|n| served(n))
            .any(|n| self.overlay.final_units_in_limits(index, container, n) > 0)
    }
}

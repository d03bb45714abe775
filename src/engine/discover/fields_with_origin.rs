//! The fabric of a group of nodes: the fields of a profile, each with the object that it comes from.

use crate::profile::schema::{Attachment, Inject, Per, Transport};

/// A value, and the object or objects that it comes from.
#[derive(Debug, Clone)]
pub(super) struct Sourced<T> {
    pub(super) value: T,
    pub(super) from: String,
}

impl<T> Sourced<T> {
    pub(super) fn new(value: T, from: impl Into<String>) -> Self {
        Self { value, from: from.into() }
    }
}

/// Two fabrics with equal values are one, whatever object says so.
impl<T: PartialEq> PartialEq for Sourced<T> {
    fn eq(&self, other: &Self) -> bool {
        self.value == other.value
    }
}

/// A rail.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Rail {
    pub(super) network: Sourced<String>,
    pub(super) resource: Option<Sourced<String>>,
    pub(super) count: Option<Sourced<u64>>,
}

/// A resource that does not follow the rails.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Resource {
    pub(super) name: Sourced<String>,
    pub(super) quantity: Sourced<u64>,
    pub(super) per: Per,
}

/// An interface of a GKE pod and its network.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct GkeInterface {
    pub(super) interface: String,
    pub(super) network: Sourced<String>,
}

/// A fabric.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Fabric {
    /// Suffix of the profile's name.
    pub(super) suffix: &'static str,
    /// The compiled-in profile of the same shape.
    pub(super) base: Option<&'static str>,
    pub(super) transport: Sourced<Transport>,
    pub(super) attachment: Sourced<Attachment>,
    pub(super) inject: Option<Sourced<Inject>>,
    pub(super) rails: Vec<Rail>,
    pub(super) resources: Vec<Resource>,
    pub(super) gke: Vec<GkeInterface>,
    /// What only a person can answer. The profile works without the answers.
    pub(super) questions: Vec<Question>,
}

impl Fabric {
    /// The names and numbers in it, which equal fabrics have in common.
    pub(super) fn names_and_numbers(&self) -> (Vec<String>, Vec<u64>) {
        let rails = self.rails.iter().flat_map(|rail| {
            std::iter::once(&rail.network.value).chain(rail.resource.as_ref().map(|resource| &resource.value))
        });
        let resources = self.resources.iter().map(|resource| &resource.name.value);
        let gke = self.gke.iter().flat_map(|one| [&one.interface, &one.network.value]);
        let counts = self.rails.iter().filter_map(|rail| Some(rail.count.as_ref()?.value));
        let quantities = self.resources.iter().map(|resource| resource.quantity.value);
        (rails.chain(resources).chain(gke).cloned().collect(), counts.chain(quantities).collect())
    }
}

/// A question about a profile that works without the answer. Equal or not, it does not make another fabric.
#[derive(Debug, Clone)]
pub(super) struct Question(pub(super) String);

impl PartialEq for Question {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

/// The base that sets no NCCL_IB_HCA.
const BASE_WITHOUT_IB_HCA: &str = "amd-host-device";

/// The names of the RDMA devices are in no object: udev may rename them, and the names differ between vendors.
pub(super) fn hca(base: Option<&str>) -> Question {
    let text = match base {
        Some(base) if base != BASE_WITHOUT_IB_HCA => {
            "Do the names of the RDMA devices begin with mlx5? The base sets NCCL_IB_HCA=mlx5. If the names are different, \
             such as ibp0, NCCL finds no device: set NCCL_IB_HCA in env."
        }
        _ => {
            "Which names do the RDMA devices have? NCCL_IB_HCA is not set, so NCCL uses every device of the pod. If NCCL must \
             use only some of the devices, set NCCL_IB_HCA in env."
        }
    };
    Question(text.to_owned())
}

/// What discover makes of a group.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum DraftOrWithheld {
    /// A fabric whose values are all observed.
    Fabric(Box<Fabric>),
    /// No profile, with the reason and the question to answer.
    Withheld(Withheld),
}

/// The reason why discover writes no profile.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Withheld {
    pub(super) reason: String,
    pub(super) question: String,
}

pub(super) fn withheld(reason: impl Into<String>, question: impl Into<String>) -> DraftOrWithheld {
    DraftOrWithheld::Withheld(Withheld { reason: reason.into(), question: question.into() })
}

/// A fabric without networks: the resources of its NICs are enough.
pub(super) fn unattached(
    suffix: &'static str,
    base: Option<&'static str>,
    transport: Sourced<Transport>,
    attachment_from: &str,
    resources: Vec<Resource>,
) -> Fabric {
    Fabric {
        suffix,
        base,
        transport,
        attachment: Sourced::new(Attachment::None, attachment_from),
        inject: None,
        rails: Vec::new(),
        resources,
        gke: Vec::new(),
        questions: Vec::new(),
    }
}

/// The units of a container with all accelerators of a node: per accelerator where that divides evenly.
pub(super) fn resource(name: Sourced<String>, units: u64, accelerators: u64, from: String) -> Resource {
    let each = units.checked_div(accelerators).filter(|each| *each > 0 && each * accelerators == units);
    match each {
        Some(each) => Resource { name, quantity: Sourced::new(each, from), per: Per::Accelerator },
        None => Resource { name, quantity: Sourced::new(units, from), per: Per::Container },
    }
}

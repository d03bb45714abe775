//! Two SriovNetworkNodePolicies on the virtual functions of one NIC.

use crate::decision_limits::DecisionLimits;
use crate::facts::sriov_node_policy::InterfaceWithVfRange;
use crate::facts::{NicsListedByPolicy, SriovNodePolicy};
use crate::rules::object_context::ObjectContext;
use crate::rules::other_sriov_policy_and_common_nodes::OtherPolicy;
use crate::snapshot::Snapshot;

/// Where two policies meet.
pub(super) struct NicInCommon {
    /// Index of the entry below `nicSelector`, with its field.
    pub(super) path: String,
    /// Name or address of the NIC, as the policy writes it.
    pub(super) nic: String,
    /// Functions of either.
    pub(super) ranges: [Option<(u32, u32)>; 2],
}

/// NICs and VFs of two policies that are compared in one unit of the work of a run.
const NICS_PER_WORK: usize = 16;

pub(super) fn do_ranges_overlap(a: Option<(u32, u32)>, b: Option<(u32, u32)>) -> bool {
    matches!((a, b), (Some(a), Some(b)) if a.0 <= b.1 && b.0 <= a.1)
}

/// The range of functions of an entry of pfNames.
pub(super) fn range_of_entry(policy: &SriovNodePolicy, index: usize) -> Option<(u32, u32)> {
    InterfaceWithVfRange::parse(policy.nics.interfaces.get(index)?)?.range
}

/// The NICs of the policy under review, which are compared with those of hundreds of other policies: a comparison costs as
/// much as both policies are long.
pub(super) struct OurNics<'c> {
    own: &'c SriovNodePolicy,
    listed: NicsListedByPolicy,
    snapshot: &'c Snapshot,
    deadline: &'c DecisionLimits<'c>,
}

impl<'c> OurNics<'c> {
    pub(super) fn new(own: &'c SriovNodePolicy, context: &'c ObjectContext<'_>) -> Self {
        let snapshot = context.snapshot;
        let listed = snapshot.cluster_facts_for_audience().nics_listed_by_sriov_policy(own);
        Self { own, listed, snapshot, deadline: context.deadline }
    }

    /// Whether a NIC could answer to both selectors, names of NICs aside.
    pub(super) fn may_be_same_ignoring_names(&self, other: OtherPolicy<'_>) -> bool {
        self.deadline.spend_work_of_run(|| (self.listed.length() + other.nics.length()) / NICS_PER_WORK);
        let (a, b) = (&self.own.nics, &other.policy.nics);
        let same = |a: &Option<String>, b: &Option<String>| a.is_none() || b.is_none() || a == b;
        a.net_filter.is_none()
            && b.net_filter.is_none()
            && same(&a.vendor, &b.vendor)
            && same(&a.device_id, &b.device_id)
            && (a.addresses.is_empty()
                || b.addresses.is_empty()
                || self.listed.first_address_in_common(other.nics).is_some())
    }

    /// Whether an entry of either policy names functions of a NIC.
    pub(super) fn have_ranges(&self, other: OtherPolicy<'_>) -> bool {
        self.listed.has_ranges() || other.nics.has_ranges()
    }

    /// The first NIC that another policy names too, with VFs that both take. `ranges_matter` is off for what applies to a
    /// NIC as a whole.
    pub(super) fn first_nic_in_common(
        &self,
        other: OtherPolicy<'_>,
        ranges_matter: bool,
    ) -> Option<NicInCommon> {
        if !self.may_be_same_ignoring_names(other) {
            return None;
        }
        let (own, policy, theirs) = (self.own, other.policy, other.nics);
        if self.listed.entries() > 0 && theirs.entries() > 0 {
            let (our_index, their_index) = match ranges_matter {
                true => self.listed.first_vf_in_common(theirs)?,
                false => self.listed.first_interface_in_common(theirs)?,
            };
            let InterfaceWithVfRange { interface, range } =
                InterfaceWithVfRange::parse(own.nics.interfaces.get(our_index)?)?;
            let nic = self.snapshot.cluster_facts_for_audience().main_name_of_interface(interface);
            return Some(NicInCommon {
                path: format!("/spec/nicSelector/pfNames/{our_index}"),
                nic: nic.to_owned(),
                ranges: [range, range_of_entry(policy, their_index)],
            });
        }
        // One of them takes NICs only by address: all VFs of them, whatever names the other has.
        let index = self.listed.first_address_in_common(theirs)?;
        let first_range = |policy: &SriovNodePolicy, nics: &NicsListedByPolicy| {
            nics.first_entry().and_then(|index| range_of_entry(policy, index))
        };
        let ranges = [first_range(own, &self.listed), first_range(policy, theirs)];
        let single = self.listed.entries() <= 1 && theirs.entries() <= 1;
        let meet = !ranges_matter
            || (single
                && do_ranges_overlap(own.vfs_used_in_range(ranges[0]), policy.vfs_used_in_range(ranges[1])));
        let nic = own.nics.addresses.get(index)?.clone();
        meet.then(|| NicInCommon { path: format!("/spec/nicSelector/rootDevices/{index}"), nic, ranges })
    }
}

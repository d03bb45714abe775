//! What a pod requests by claims on devices (DRA), which its resources do not show: accelerators, and NICs of the fabric.

use super::answers_per_fact::PerFact;
use crate::facts::{DeviceClaim, DeviceRequest, DriverKind, RequestedDevices};
use crate::pod::accelerator_resources::AcceleratorsOfContainer;
use crate::pod::limits_and_costs_of_pods::claims_within_and_beyond_limit;
use crate::pod::pod_fields::{PodClaim, PodView};
use crate::snapshot::Snapshot;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

/// The accelerators that claims give to the containers that use them.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Claimed {
    /// By index: app containers, then init containers. Containers without claims are left out.
    pub demands: BTreeMap<usize, AcceleratorsOfContainer>,
    /// Whole accelerators of all claims that any container uses, each claim once (count). A claim is allocated for the whole
    /// life of its pod, whichever of the containers use it and when (kubernetes/enhancements
    /// keps/sig-node/4381-dra-structured-parameters). Numbers that are not known count as 0.
    pub whole: u32,
    /// Containers with a claim that is not known: its devices are not known either.
    pub unread: Vec<usize>,
    /// The effect of the claims on the fabric of the pod.
    pub fabric: FabricClaims,
}

/// The effect of a pod's claims on its fabric, whether a container names them or not: DRANET gives the devices of a
/// claim to every container of the pod (kubernetes-sigs/dranet pkg/driver, which moves interfaces into the pod's
/// network namespace). The first claim of each kind is kept.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct FabricClaims {
    /// A claim on NICs.
    pub nic: Option<ClaimOn>,
    /// A claim on devices of an unclassified driver.
    pub unknown: Option<ClaimOn>,
    /// A claim whose template, or the claim itself, is not known. The class is empty.
    pub unread: Option<ClaimOn>,
}

/// A claim of a pod and the devices it requests.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClaimOn {
    /// Place in `spec.resourceClaims`.
    pub index: usize,
    /// Name by which containers refer to it.
    pub claim: String,
    /// DeviceClass, as the claim names it.
    pub class: String,
}

impl FabricClaims {
    fn of(claims: &[PodClaim<'_>], namespace: &str, snapshot: &Snapshot) -> Self {
        let mut found = Self::default();
        let mut firsts: PerFact<'_, _, FirstOf<'_>> = PerFact::default();
        for (index, claim) in claims.iter().enumerate() {
            let on = |class: &str| ClaimOn {
                index,
                claim: claim.name.as_deref().unwrap_or_default().to_owned(),
                class: class.to_owned(),
            };
            let Some(known) = find_known_claim_or_template(claim, namespace, snapshot) else {
                found.unread.get_or_insert_with(|| on(""));
                continue;
            };
            let first = firsts.get(known, || FirstOf::among(known, snapshot));
            found.nic = found.nic.or_else(|| first.nic.map(on));
            found.unknown = found.unknown.or_else(|| first.unknown.map(on));
        }
        found
    }
}

/// The first class of each kind among those that a claim requests.
#[derive(Debug, Default)]
struct FirstOf<'a> {
    nic: Option<&'a str>,
    unknown: Option<&'a str>,
}

impl<'a> FirstOf<'a> {
    fn among(claim: &'a DeviceClaim, snapshot: &Snapshot) -> Self {
        let mut first = Self::default();
        for ask in claim.requests.iter().flat_map(|r| &r.options) {
            let driver = ask.driver_or_class_name(snapshot.device_class(&ask.class));
            match snapshot.settings().harmless_drivers.kind_of_driver(driver) {
                DriverKind::Nic => drop(first.nic.get_or_insert(&ask.class)),
                DriverKind::Unknown => drop(first.unknown.get_or_insert(&ask.class)),
                DriverKind::Harmless => {}
            }
        }
        first
    }
}

/// Most devices that are classified for all claims of a pod (count): each alternative of a request is one. Real pods have
/// a handful; the API server allows 256 for each claim, and a body of a few KiB may name hundreds of such claims.
const MAX_ASKS: usize = 256;

/// The claims of a pod whose devices are classified, and those beyond the limit.
fn split_claims_at_device_limit<'c, 'p>(
    claims: &'c [PodClaim<'p>],
    namespace: &str,
    snapshot: &Snapshot,
) -> (&'c [PodClaim<'p>], &'c [PodClaim<'p>]) {
    let mut asks = 0;
    let within = claims.iter().take_while(|claim| {
        asks += count_devices_of_claim(claim, namespace, snapshot);
        asks <= MAX_ASKS
    });
    claims.split_at(within.count())
}

/// The devices of a claim that are classified, if the claim is known (count).
pub(crate) fn count_devices_of_claim(claim: &PodClaim<'_>, namespace: &str, snapshot: &Snapshot) -> usize {
    find_known_claim_or_template(claim, namespace, snapshot)
        .map_or(0, |known| known.requests.iter().map(|r| r.options.len()).sum())
}

/// The claims of a pod whose devices are classified.
pub(crate) fn claims_within_device_limit<'p>(
    pod: &'p PodView<'_>,
    namespace: &str,
    snapshot: &Snapshot,
) -> &'p [PodClaim<'p>] {
    split_claims_at_device_limit(claims_within_and_beyond_limit(pod).0, namespace, snapshot).0
}

/// The containers that use a known claim, by the request that they name; none is the whole claim. A container may name one of
/// several alternatives too, as `request/alternative`.
type Users<'a> = BTreeMap<Option<&'a str>, BTreeSet<usize>>;

/// Known facts about a claim, and the containers that use it. The containers of a pod may name claims 100,000 times. So only
/// the pod's claims and their requests are kept, and not every name.
enum Usage<'a> {
    /// Not looked at, or perhaps not kept: its users count as containers with accelerators. Otherwise a pod of many claims, or
    /// in a namespace of many claims, would be without accelerators, and free of what a profile requires and forbids.
    CountsAsAccelerated,
    Unknown,
    Known {
        claim: &'a DeviceClaim,
        users: Users<'a>,
    },
}

/// The devices that containers get from claims. A claim that several containers use is one set of devices, shared by them
/// (kubernetes/enhancements keps/sig-node/4381-dra-structured-parameters): each of those that run together counts its
/// share, and at least one. An ordinary init container runs before them, with the whole set.
#[must_use]
pub fn devices_claimed_by_containers(pod: &PodView<'_>, namespace: &str, snapshot: &Snapshot) -> Claimed {
    let mut found = Claimed::default();
    let (claims, beyond) = claims_within_and_beyond_limit(pod);
    if claims.is_empty() {
        return found;
    }
    let (claims, costly) = split_claims_at_device_limit(claims, namespace, snapshot);
    found.fabric = FabricClaims::of(claims, namespace, snapshot);
    if let Some(first) = costly.first() {
        let claim = first.name.as_deref().unwrap_or_default().to_owned();
        found.fabric.unread.get_or_insert(ClaimOn { index: claims.len(), claim, class: String::new() });
    }
    let mut usages: HashMap<&str, Usage<'_>> = HashMap::new();
    // Of two claims of one name, which the API server refuses, the first counts.
    for claim in claims {
        usages.entry(claim.name.as_deref().unwrap_or_default()).or_insert_with(|| {
            match find_known_claim_or_template(claim, namespace, snapshot) {
                Some(claim) => Usage::Known { claim, users: Users::new() },
                None if may_claim_be_left_out(claim, namespace, snapshot) => Usage::CountsAsAccelerated,
                None => Usage::Unknown,
            }
        });
    }
    for name in costly.iter().chain(beyond).filter_map(|claim| claim.name.as_deref()) {
        usages.entry(name).or_insert(Usage::CountsAsAccelerated);
    }
    let mut requests: PerFact<'_, _, HashSet<&str>> = PerFact::default();
    let mut ordinary: BTreeSet<usize> = BTreeSet::new();
    for (index, container) in pod.containers().iter().chain(pod.init_containers()).enumerate() {
        if index >= pod.containers().len() && !container.is_sidecar() {
            ordinary.insert(index);
        }
        let own = container.resources.as_ref().and_then(|r| r.claims.as_deref()).unwrap_or_default();
        for entry in own {
            // A null in the list uses nothing.
            let Some(name) = entry.name.as_deref() else { continue };
            match usages.get_mut(name) {
                Some(Usage::CountsAsAccelerated) => found.count_as_accelerated(index),
                None | Some(Usage::Unknown) if found.unread.last() == Some(&index) => {}
                None | Some(Usage::Unknown) => found.unread.push(index),
                Some(&mut Usage::Known { claim, ref mut users }) => {
                    let request = entry.named_request();
                    let names =
                        || claim.requests.iter().map(|request| request.name.as_str()).collect::<HashSet<_>>();
                    if request.is_none_or(|request| requests.get(claim, names).contains(request)) {
                        users.entry(request).or_default().insert(index);
                    }
                }
            }
        }
    }
    for name in claims.iter().map(|claim| claim.name.as_deref().unwrap_or_default()) {
        if let Some(Usage::Known { claim, users }) = usages.remove(name) {
            found.add_devices_of_claim_to_users(claim, &users, &ordinary, snapshot);
        }
    }
    found
}

impl Claimed {
    fn count_as_accelerated(&mut self, index: usize) {
        let demand = self.demands.entry(index).or_default();
        (demand.any, demand.nccl, demand.unknown) = (true, true, true);
    }

    /// Counts the devices of a claim. The users of the whole claim get the sum of its requests, so that they are visited
    /// once and not for each request.
    fn add_devices_of_claim_to_users(
        &mut self,
        claim: &DeviceClaim,
        users: &Users<'_>,
        ordinary: &BTreeSet<usize>,
        snapshot: &Snapshot,
    ) {
        let nobody = BTreeSet::new();
        let of_all = users.get(&None).unwrap_or(&nobody);
        let running = of_all.difference(ordinary).count();
        let mut sum: Option<Shares> = None;
        for request in &claim.requests {
            let named = users.get(&Some(request.name.as_str())).unwrap_or(&nobody);
            let more: Vec<usize> = named.difference(of_all).copied().collect();
            if of_all.is_empty() && more.is_empty() {
                continue;
            }
            let together = running + more.iter().filter(|index| !ordinary.contains(index)).count();
            let Some(shares) = Shares::of(request, together, snapshot) else { continue };
            self.whole = self.whole.saturating_add(shares.all);
            for index in more {
                self.add(index, shares.of_container(ordinary.contains(&index)));
            }
            let sum = sum.get_or_insert_default();
            sum.running = both(sum.running, shares.running);
            sum.ordinary = both(sum.ordinary, shares.ordinary);
        }
        let Some(sum) = sum else { return };
        for index in of_all {
            self.add(*index, sum.of_container(ordinary.contains(index)));
        }
    }

    fn add(&mut self, index: usize, more: AcceleratorsOfContainer) {
        let demand = self.demands.entry(index).or_default();
        *demand = both(*demand, more);
    }
}

/// What one container gets of a request for accelerators.
#[derive(Debug, Default, Clone, Copy)]
struct Shares {
    running: AcceleratorsOfContainer,
    /// An ordinary init container.
    ordinary: AcceleratorsOfContainer,
    /// Whole accelerators of the request (count).
    all: u32,
}

impl Shares {
    /// The shares of the users of a request, of whom so many run together. `None` if it is neither for accelerators nor for
    /// slices of them. A slice counts as no whole accelerator, as a slice of the device plugin does.
    fn of(request: &DeviceRequest, together: usize, snapshot: &Snapshot) -> Option<Self> {
        let class = |ask: &RequestedDevices| snapshot.device_class(&ask.class);
        let is_whole = |ask: &RequestedDevices| ask.is_for_whole_accelerators(class(ask));
        if !request.options.iter().any(|ask| ask.accelerators(class(ask)).is_some()) {
            return None;
        }
        // AWS Neuron runs its own collectives.
        let nccl = request.options.iter().any(|ask| ask.driver_or_class_name(class(ask)) != "neuron.aws.com");
        // All devices of a node, or alternatives that differ: the number is not known.
        let mut counts = request.options.iter().map(|ask| if is_whole(ask) { ask.count } else { Some(0) });
        let first = counts.next().flatten();
        let count = first.filter(|_| counts.all(|c| c == first));
        let share = |n: u32| n.div_ceil(u32::try_from(together.max(1)).unwrap_or(u32::MAX)).max(1);
        let all = count.unwrap_or(0);
        let whole = if all > 0 { share(all) } else { 0 };
        let running = AcceleratorsOfContainer { any: true, whole, unknown: count.is_none(), nccl };
        // The devices that the later containers have too are counted there.
        let ordinary = AcceleratorsOfContainer { whole: if together == 0 { whole } else { 0 }, ..running };
        Some(Self { running, ordinary, all })
    }

    fn of_container(&self, ordinary: bool) -> AcceleratorsOfContainer {
        if ordinary { self.ordinary } else { self.running }
    }
}

fn both(one: AcceleratorsOfContainer, other: AcceleratorsOfContainer) -> AcceleratorsOfContainer {
    AcceleratorsOfContainer {
        any: one.any || other.any,
        whole: one.whole.saturating_add(other.whole),
        unknown: one.unknown || other.unknown,
        nccl: one.nccl || other.nccl,
    }
}

/// The known facts about a claim that a pod names.
pub(crate) fn find_known_claim_or_template<'s>(
    claim: &PodClaim<'_>,
    namespace: &str,
    snapshot: &'s Snapshot,
) -> Option<&'s DeviceClaim> {
    match (claim.resource_claim_template_name.as_deref(), claim.resource_claim_name.as_deref()) {
        (Some(template), _) => snapshot.claim_template(namespace, template),
        (None, Some(claim)) => snapshot.claim(namespace, claim),
        (None, None) => None,
    }
}

/// Whether a claim may be unknown because its namespace has so many that the webhook does not keep all. Whoever creates so
/// many must not gain by it.
pub(crate) fn may_claim_be_left_out(claim: &PodClaim<'_>, namespace: &str, snapshot: &Snapshot) -> bool {
    let by_template = claim.resource_claim_template_name.is_some();
    find_known_claim_or_template(claim, namespace, snapshot).is_none()
        && snapshot.leaves_out_claims(namespace, by_template)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::snapshot::{Builder, Layer};

    fn snapshot() -> Snapshot {
        let mut builder = Builder::default();
        let mut add = |kind: &str, name: &str, spec: &str| {
            let json = format!(r#"{{"metadata":{{"name":"{name}","namespace":"t"}},"spec":{spec}}}"#);
            builder.add(Layer::Input, "resource.k8s.io", kind, &json, "t").unwrap();
        };
        let template = |requests: &str| format!(r#"{{"spec":{{"devices":{{"requests":[{requests}]}}}}}}"#);
        let gpus = r#"{"name":"gpus","exactly":{"deviceClassName":"gpu.nvidia.com","count":4}},
            {"name":"other","exactly":{"deviceClassName":"else"}}"#;
        add("ResourceClaimTemplate", "four", &template(gpus));
        add(
            "ResourceClaimTemplate",
            "nic",
            &template(r#"{"name":"n","exactly":{"deviceClassName":"dranet"}}"#),
        );
        let own = r#"{"name":"g","exactly":{"deviceClassName":"ours","count":2}}"#;
        add("ResourceClaim", "two", &format!(r#"{{"devices":{{"requests":[{own}]}}}}"#));
        let all = r#"{"exactly":{"deviceClassName":"gpu.nvidia.com","allocationMode":"All"}}"#;
        add("ResourceClaimTemplate", "all", &template(all));
        let either = r#"{"firstAvailable":[{"deviceClassName":"gpu.nvidia.com","count":1},{"deviceClassName":"ours","count":2}]}"#;
        add("ResourceClaimTemplate", "either", &template(either));
        let driver =
            |d: &str| format!(r#"{{"selectors":[{{"cel":{{"expression":"device.driver == '{d}'"}}}}]}}"#);
        add("DeviceClass", "ours", &driver("gpu.nvidia.com"));
        add("DeviceClass", "dranet", &driver("dra.net"));
        builder.build()
    }

    fn of(claims: &str, used: &[&str]) -> Claimed {
        let containers: Vec<String> =
            used.iter().map(|u| format!(r#"{{"resources":{{"claims":[{u}]}}}}"#)).collect();
        let json =
            format!(r#"{{"spec":{{"resourceClaims":[{claims}],"containers":[{}]}}}}"#, containers.join(","));
        devices_claimed_by_containers(&serde_json::from_str(&json).unwrap(), "t", &snapshot())
    }

    fn whole(claims: &str, used: &[&str]) -> Vec<u32> {
        let found = of(claims, used);
        assert!(found.unread.is_empty());
        found.demands.values().map(|d| d.whole).collect()
    }

    #[test]
    fn counts_what_classes_are_known_to_be() {
        let four = r#"{"name":"c","resourceClaimTemplateName":"four"}"#;
        assert_eq!(whole(four, &[r#"{"name":"c"}"#]), [4]);
        assert!(whole(four, &[r#"{"name":"c","request":"other"}"#]).is_empty());
        assert!(whole(four, &[r#"{"name":"c","request":"none"}"#]).is_empty());
        for named in [r#"{"name":"c","request":""}"#, r#"{"name":"c","request":"gpus/first"}"#] {
            assert_eq!(whole(four, &[named]), [4], "{named}");
        }
        // One set of four, for two containers, however they name it.
        assert_eq!(whole(four, &[r#"{"name":"c"}"#, r#"{"name":"c","request":"gpus"}"#]), [2, 2]);
        assert_eq!(whole(four, &[r#"{"name":"c"},{"name":"c","request":"gpus"}"#]), [4]);
        assert_eq!(whole(r#"{"name":"c","resourceClaimName":"two"}"#, &[r#"{"name":"c"}"#]), [2]);
        assert!(whole(four, &[]).is_empty());
    }

    /// As with resources: the devices of an ordinary init container are those of the pod, while no other one has them.
    #[test]
    fn an_init_container_has_the_whole_claim() {
        let used = r#""resources":{"claims":[{"name":"c"}]}"#;
        for (inits, apps, whole) in [
            (format!("{{{used}}}"), "{}".to_owned(), vec![(1, 4)]),
            (format!("{{{used}}},{{{used}}}"), "{}".to_owned(), vec![(1, 4), (2, 4)]),
            (format!("{{{used}}}"), format!("{{{used}}}"), vec![(0, 4), (1, 0)]),
            (format!("{{\"restartPolicy\":\"Always\",{used}}}"), format!("{{{used}}}"), vec![(0, 2), (1, 2)]),
        ] {
            let json = format!(
                r#"{{"spec":{{"resourceClaims":[{{"name":"c","resourceClaimTemplateName":"four"}}],"initContainers":[{inits}],"containers":[{apps}]}}}}"#
            );
            let found =
                devices_claimed_by_containers(&serde_json::from_str(&json).unwrap(), "t", &snapshot());
            let demands: Vec<(usize, u32)> = found.demands.iter().map(|(i, d)| (*i, d.whole)).collect();
            assert_eq!(demands, whole, "{json}");
            assert!(found.demands.values().all(|d| d.any && d.nccl));
        }
    }

    /// Beyond the limit a claim is not known, and its users count as containers with accelerators.
    #[test]
    fn devices_of_so_many_requests_are_classified() {
        let mut builder = Builder::default();
        let option = r#"{"name":"a","deviceClassName":"else"}"#;
        let request = format!(r#"{{"name":"r","firstAvailable":[{}]}}"#, [option; 8].join(","));
        let spec = format!(r#"{{"devices":{{"requests":[{}]}}}}"#, vec![request; 32].join(","));
        let json = format!(r#"{{"metadata":{{"name":"t","namespace":"t"}},"spec":{{"spec":{spec}}}}}"#);
        builder.add(Layer::Input, "resource.k8s.io", "ResourceClaimTemplate", &json, "t").unwrap();
        let snapshot = builder.build();
        for (claims, unread) in [(1, None), (2, Some(1)), (128, Some(1))] {
            let listed = |i: usize| format!(r#"{{"name":"c{i}","resourceClaimTemplateName":"t"}}"#);
            let listed: Vec<String> = (0..claims).map(listed).collect();
            let json = format!(
                r#"{{"spec":{{"resourceClaims":[{}],"containers":[{{"resources":{{"claims":[{{"name":"c{}"}}]}}}}]}}}}"#,
                listed.join(","),
                claims - 1
            );
            let found = devices_claimed_by_containers(&serde_json::from_str(&json).unwrap(), "t", &snapshot);
            assert_eq!(found.fabric.unread.map(|on| on.index), unread, "{claims}");
            assert_eq!(found.demands.values().any(|d| d.any && d.unknown), unread.is_some(), "{claims}");
        }
    }

    #[test]
    fn knows_network_devices() {
        let nic = r#"{"name":"c","resourceClaimTemplateName":"nic"}"#;
        let on = ClaimOn { index: 0, claim: "c".to_owned(), class: "dranet".to_owned() };
        for used in [r#"{"name":"c"}"#, "null"] {
            assert_eq!(of(nic, &[used]).fabric, FabricClaims { nic: Some(on.clone()), ..Default::default() });
        }
    }

    #[test]
    fn unknown_claims_are_reported() {
        let four = of(r#"{"name":"c","resourceClaimTemplateName":"four"}"#, &[r#"{"name":"c"}"#]).fabric;
        assert_eq!(four.unknown.map(|on| on.class).as_deref(), Some("else"));
        assert_eq!((four.nic, four.unread), (None, None));
        for template in ["all", "either"] {
            let claim = format!(r#"{{"name":"c","resourceClaimTemplateName":"{template}"}}"#);
            let demand = of(&claim, &[r#"{"name":"c"}"#]).demands[&0];
            assert!(demand.any && demand.unknown, "{template}");
        }
        let absent = of(r#"{"name":"c","resourceClaimTemplateName":"absent"}"#, &["null", r#"{"name":"c"}"#]);
        assert!(absent.fabric.unread.is_some_and(|on| on.claim == "c"));
        assert_eq!((absent.unread, absent.demands.len()), (vec![1], 0));
        assert_eq!(of("null", &[r#"{"name":"c"}"#]).unread, [0]);
    }
}

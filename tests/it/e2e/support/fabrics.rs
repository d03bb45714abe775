//! A site with one profile of every kind of fabric, and namespaces in pairs: in one the webhook is asked, in the
//! other it is not, and nothing else differs.

use super::plane::Plane;
use super::site::{PROFILE_LABEL, Site};
use serde_json::{Value, json};

/// Profiles as operators write them. Names are what pods give.
pub(crate) const FABRICS: &[(&str, &str)] = &[
    (
        "roce",
        "base: roce-sriov\n  nodeSelector: {matchLabels: {fabric: roce}, matchExpressions: [{key: rack, operator: In, values: [r1, r2]}]}\n  \
         placement: {nodeAffinity: required}\n  subsets: [{name: s0, interfaces: [rail0]}, {name: s1, interfaces: [rail1, rail2]}]\n  \
         env: [{name: NCCL_IB_TC, value: \"106\"}, {name: NCCL_IB_SL, value: \"3\", policy: require}]",
    ),
    (
        "roce-by-rail",
        "base: roce-sriov\n  rails: [{network: rail-a, resource: example.com/vf-a, interface: ib0}, {network: rails/rail-b, resource: example.com/vf-b, interface: ib1}]\n  \
         resources: [{name: example.com/slot, quantity: 2, per: rail}]\n  bootstrap: ib0\n  ipcLock: true",
    ),
    ("infiniband", "base: infiniband-sriov\n  sharedMemory: {perAccelerator: 1Gi}"),
    ("ipoib", "base: infiniband-ipoib"),
    ("shared-hca", "base: roce-macvlan"),
    ("host-device", "base: roce-host-device"),
    ("efa", "base: aws-efa"),
    ("azure", "base: azure-nd"),
    ("annotations", "base: roce-sriov\n  inject: annotations"),
    ("review", "base: roce-sriov\n  inject: review"),
];

/// The profiles as one file.
pub(crate) fn profiles() -> String {
    let one = |(name, spec): &(&str, &str)| {
        format!(
            "apiVersion: fabric-admission.dev/v1alpha1\nkind: FabricProfile\nmetadata: {{name: {name}}}\nspec:\n  {spec}\n---\n"
        )
    };
    FABRICS.iter().map(one).collect()
}

/// Two namespaces with the same labels but one.
#[derive(Debug)]
pub(crate) struct Pair {
    /// Where the webhook is asked.
    pub(crate) asked: String,
    /// Where it is not.
    pub(crate) plain: String,
}

/// The site and what stands around it.
pub(crate) struct Fabrics<'a> {
    /// Ends with this.
    pub(crate) site: Site<'a>,
    /// By the level that Pod Security enforces: none, baseline, restricted.
    pub(crate) pairs: Vec<Pair>,
    /// The namespaces, as the server and offline reviews know them.
    pub(crate) namespaces: Vec<Value>,
}

/// Kinds that pods refer to by name, without which the API server refuses them.
const AROUND: &str = "apiVersion: scheduling.k8s.io/v1\nkind: PriorityClass\nmetadata: {name: e2e-high}\nvalue: 1000\n---\n\
    apiVersion: node.k8s.io/v1\nkind: RuntimeClass\nmetadata: {name: e2e-kata}\nhandler: kata\n\
    overhead: {podFixed: {cpu: 250m, memory: 120Mi}}\n";

impl<'a> Fabrics<'a> {
    pub(crate) fn start(plane: &'a Plane, accounts: &[&str]) -> Result<Self, String> {
        plane.apply(AROUND)?;
        let mut pairs = Vec::new();
        let mut namespaces = Vec::new();
        for level in ["privileged", "baseline", "restricted"] {
            let label = ("pod-security.kubernetes.io/enforce", level);
            let pair =
                Pair { asked: plane.namespace(&[PROFILE_LABEL, label])?, plain: plane.namespace(&[label])? };
            for name in [&pair.asked, &pair.plain] {
                let made = plane.get(&["ns", name])?;
                namespaces.push(json!({"apiVersion": "v1", "kind": "Namespace",
                    "metadata": {"name": name, "labels": made["metadata"]["labels"]}}));
                for account in accounts {
                    plane.apply(
                        &json!({"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": account, "namespace": name}})
                            .to_string(),
                    )?;
                }
            }
            pairs.push(pair);
        }
        let list = json!({"apiVersion": "v1", "kind": "List", "items": namespaces}).to_string();
        let profiles = profiles();
        let files = [("profiles.yaml", profiles.as_str()), ("cluster/namespaces.json", list.as_str())];
        let site = Site::start(plane, &files, &["--cluster", "cluster"])?;
        Ok(Self { site, pairs, namespaces })
    }
}

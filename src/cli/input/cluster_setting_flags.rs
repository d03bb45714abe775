//! The flags for settings of the cluster: those that the offline commands and `serve` have in common.

use crate::facts::{DriverPattern, DriversWithoutNics, PodSecurity};
use crate::profile::Ignorable;
use crate::snapshot::{Ambiguity, Settings, Snapshot};
use clap::ValueEnum;

/// Settings of the cluster; the same for the offline review and for the webhook.
#[derive(Debug, Clone, clap::Args)]
pub(in crate::cli) struct ClusterSettingFlags {
    /// Policy for a pod to which several FabricProfiles could apply
    #[arg(long, value_enum, env = "FABRIC_ADMISSION_AMBIGUOUS", default_value_t = AmbiguityArgument::Deny)]
    ambiguous: AmbiguityArgument,
    /// FabricProfile for pods that match no FabricProfile, in namespaces without a default FabricProfile
    #[arg(long, value_name = "NAME", env = "FABRIC_ADMISSION_DEFAULT_PROFILE")]
    default_profile: Option<String>,
    /// Pod Security level that the API server enforces in namespaces without the label
    /// pod-security.kubernetes.io/enforce
    #[arg(long, value_enum, value_name = "LEVEL", env = "FABRIC_ADMISSION_POD_SECURITY_DEFAULT", default_value_t = PodSecurityArgument::Privileged)]
    pod_security_default: PodSecurityArgument,
    /// Let a pod use networks only from its own namespace, from namespace "default", and from the namespaces of the
    /// networks in its FabricProfile
    #[arg(long, env = "FABRIC_ADMISSION_NAMESPACE_ISOLATION")]
    namespace_isolation: bool,
    /// Findings that users can ignore with annotation fabric-admission.dev/ignore.FABnnn (FABnnn: id of a rule). If a
    /// pod has a FabricProfile, field `ignorable` of the FabricProfile applies instead of this flag
    #[arg(long, value_enum, value_name = "WHAT", env = "FABRIC_ADMISSION_IGNORABLE", default_value_t = IgnorableArgument::Warnings)]
    ignorable: IgnorableArgument,
    /// Name of a DRA driver or DeviceClass that never allocates NICs, in addition to the built-in names. If a pod has a
    /// claim for a driver or class that may allocate NICs, the webhook adds no networks to the pod. `*` matches any
    /// text; repeatable
    #[arg(long, value_name = "NAME", env = "FABRIC_ADMISSION_HARMLESS_DRIVERS", value_delimiter = ',', value_parser = driver)]
    harmless_drivers: Vec<DriverPattern>,
}

/// The namespaces in which the guides of the operators and device plugins install them: k8snetworkplumbingwg's
/// sriov-network-operator (on OpenShift with its prefix) and NVIDIA's and AMD's network operators; the manifests of
/// sriov-network-device-plugin and k8s-rdma-shared-dev-plugin have kube-system.
pub(in crate::cli) const OPERATOR_NAMESPACES: [&str; 6] = [
    "sriov-network-operator",
    "openshift-sriov-network-operator",
    "nvidia-network-operator",
    "network-operator",
    "kube-amd-network",
    "kube-system",
];

fn driver(text: &str) -> Result<DriverPattern, String> {
    DriverPattern::parse(text)
        .ok_or_else(|| "expected a name of lower-case letters, digits, '-', '.' and '*'".to_owned())
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum IgnorableArgument {
    /// Warnings and info findings
    Warnings,
    /// Errors, warnings and info findings
    Errors,
}

/// A level of Pod Security.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum PodSecurityArgument {
    /// No restriction
    Privileged,
    /// Pods must not add IPC_LOCK
    Baseline,
    /// Pods must run as non-root and must not add IPC_LOCK
    Restricted,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum AmbiguityArgument {
    /// Deny the pod; the message names the annotation to set
    Deny,
    /// Choose the profile with the highest priority; the pod may run only on that profile's nodes
    Pin,
    /// Admit the pod unchanged, with a warning
    Warn,
}

impl ClusterSettingFlags {
    pub(in crate::cli) fn settings(&self) -> Settings {
        let ambiguity = match self.ambiguous {
            AmbiguityArgument::Deny => Ambiguity::Deny,
            AmbiguityArgument::Pin => Ambiguity::Pin,
            AmbiguityArgument::Warn => Ambiguity::Warn,
        };
        let pod_security_default = match self.pod_security_default {
            PodSecurityArgument::Privileged => PodSecurity::Privileged,
            PodSecurityArgument::Baseline => PodSecurity::Baseline,
            PodSecurityArgument::Restricted => PodSecurity::Restricted,
        };
        let ignorable = match self.ignorable {
            IgnorableArgument::Warnings => Ignorable::Warnings,
            IgnorableArgument::Errors => Ignorable::Errors,
        };
        let default_profile = self.default_profile.clone();
        let namespace_isolation = self.namespace_isolation;
        Settings {
            ambiguity,
            default_profile,
            pod_security_default,
            namespace_isolation,
            harmless_drivers: DriversWithoutNics::new(self.harmless_drivers.clone()),
            ignorable,
            ..Settings::default()
        }
    }

    /// Checks that the default profile exists.
    pub(in crate::cli) fn check_default_profile_exists(&self, snapshot: &Snapshot) -> Result<(), String> {
        match &self.default_profile {
            Some(name) if snapshot.profile(name).is_none() => {
                let known = snapshot.profiles().map(|p| p.name.as_str());
                let hint = match crate::text::nearest_if_probably_meant(name, known) {
                    Some(near) => format!("; did you mean {near:?}?"),
                    None => String::new(),
                };
                Err(format!("--default-profile: FabricProfile {name:?} does not exist{hint}"))
            }
            _ => Ok(()),
        }
    }
}

/// Settings that count for a server.
pub(in crate::cli) struct ServerSettings<'a> {
    /// Those that it has in common with a review.
    pub(in crate::cli) choice: &'a ClusterSettingFlags,
    /// Whether planned changes are only reported.
    pub(in crate::cli) withhold_changes: bool,
    /// Namespaces of operators.
    pub(in crate::cli) operator_namespaces: &'a [String],
}

impl ServerSettings<'_> {
    pub(super) fn settings(&self) -> Settings {
        Settings {
            withhold_changes: self.withhold_changes,
            operator_namespaces: Some(self.operator_namespaces.iter().cloned().collect()),
            ..self.choice.settings()
        }
    }
}

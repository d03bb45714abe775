//! The flags that name inputs, profiles and facts, of every offline command.

use super::cluster_setting_flags::ClusterSettingFlags;
use std::path::{Path, PathBuf};

#[derive(Debug, Clone, clap::Args)]
pub(in crate::cli) struct InputFlags {
    /// Manifest file, directory with manifests (*.yaml, *.yml, *.json), or - for standard input. To read a running
    /// pod, use pod/NAME and --live
    #[arg(required = true, value_name = "PATH")]
    pub(super) paths: Vec<PathBuf>,
    /// Name of a FabricProfile in --profiles, or of a built-in base profile. The profile applies to every pod with
    /// accelerators; the command ignores the profile annotations of the pods
    #[arg(long, value_name = "NAME")]
    pub(super) profile: Option<String>,
    /// File or directory with FabricProfiles; if one FabricProfile is invalid, the command fails
    #[arg(long, value_name = "PATH")]
    pub(super) profiles: Option<PathBuf>,
    /// File or directory with Kubernetes objects that describe the cluster, such as Nodes and
    /// NetworkAttachmentDefinitions; repeatable
    #[arg(long, value_name = "PATH")]
    pub(super) cluster: Vec<PathBuf>,
    /// Read objects such as Nodes and networks from the API server of a cluster, in addition to files
    #[arg(long)]
    pub(super) live: bool,
    /// Context in the kubeconfig, for --live; default: the current context
    #[arg(long, value_name = "NAME", requires = "live")]
    pub(super) context: Option<String>,
    /// Kubeconfig file, for --live; default: the first file in environment variable KUBECONFIG, else ~/.kube/config
    #[arg(long, value_name = "FILE", requires = "live")]
    pub(super) kubeconfig: Option<PathBuf>,
    /// Namespace for objects whose manifest does not set metadata.namespace; default: "default"
    #[arg(long, short, value_name = "NS", value_parser = parse_namespace)]
    pub(super) namespace: Option<String>,
    /// Do not fail if standard input is empty or a directory has no manifests
    #[arg(long)]
    pub(super) allow_empty: bool,
    #[command(flatten)]
    pub(super) choice: ClusterSettingFlags,
}

/// Values for flags that are not given.
#[derive(Debug, Clone, Default)]
pub(in crate::cli) struct InputDefaults {
    pub(in crate::cli) profile: Option<String>,
    pub(in crate::cli) profiles: Option<PathBuf>,
    pub(in crate::cli) cluster: Vec<PathBuf>,
    pub(in crate::cli) namespace: Option<String>,
}

impl InputFlags {
    /// The paths as they are given.
    pub(in crate::cli) fn paths(&self) -> &[PathBuf] {
        &self.paths
    }

    /// Some inputs, with profiles and facts from files.
    pub(in crate::cli) fn of_files(
        paths: Vec<PathBuf>,
        files: &FactFileFlags,
        choice: &ClusterSettingFlags,
    ) -> Self {
        let FactFileFlags { profiles, cluster, namespace } = files.clone();
        Self {
            paths,
            profile: None,
            profiles,
            cluster,
            live: false,
            context: None,
            kubeconfig: None,
            namespace,
            allow_empty: true,
            choice: choice.clone(),
        }
    }

    /// Whether a cluster is read too.
    pub(in crate::cli) fn is_live(&self) -> bool {
        self.live
    }

    /// Namespace of objects that name none.
    pub(in crate::cli) fn namespace(&self) -> Option<&str> {
        self.namespace.as_deref()
    }

    /// The file or directory with profiles.
    pub(in crate::cli) fn profiles(&self) -> Option<&Path> {
        self.profiles.as_deref()
    }

    /// The files and directories with facts.
    pub(in crate::cli) fn cluster(&self) -> &[PathBuf] {
        &self.cluster
    }

    /// The same settings for some of the inputs, with values for the flags that are not given.
    pub(in crate::cli) fn with_paths_and_defaults(
        &self,
        paths: Vec<PathBuf>,
        defaults: InputDefaults,
    ) -> Self {
        let given = self.clone();
        Self {
            paths,
            profile: given.profile.or(defaults.profile),
            profiles: given.profiles.or(defaults.profiles),
            cluster: if given.cluster.is_empty() { defaults.cluster } else { given.cluster },
            namespace: given.namespace.or(defaults.namespace),
            ..given
        }
    }
}

/// Where an offline command without manifests of its own takes profiles and facts from.
#[derive(Debug, Clone, Default)]
pub(in crate::cli) struct FactFileFlags {
    pub(in crate::cli) profiles: Option<PathBuf>,
    pub(in crate::cli) cluster: Vec<PathBuf>,
    pub(in crate::cli) namespace: Option<String>,
}

pub(in crate::cli) fn parse_namespace(text: &str) -> Result<String, String> {
    if crate::multus::parse_networks_annotation::is_dns_label(text) {
        Ok(text.to_owned())
    } else {
        Err("expected lower-case letters, digits and '-', at most 63 characters".to_owned())
    }
}

//! Edits by intent: which value of a pod is set, its path, and its description for a person.

use super::{
    FILE_ANNOTATION, FILES_PATH, NCCL_CONF, NCCL_CONF_PATH, NODE_AFFINITY_TERMS_PATH, SHM_PATH,
    networks_annotation_summary,
};
use crate::multus::NETWORKS_ANNOTATION;
use crate::pod::which_containers_webhook_added::MONITOR_CONTAINER;
use crate::profile::schema::SelectorExpression;
use crate::text::json_pointer_token;
use serde::Serialize;
use std::borrow::Cow;
use std::sync::Arc;

/// How a change reaches the processes of a pod.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Carrier {
    /// A variable of a container.
    Env,
    /// A line of a file in the container.
    File,
    /// A field of the object.
    Object,
}

/// An edit by intent. Indices count the containers of the unpatched object.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Edit {
    /// The networks annotation with this value.
    Networks {
        /// Whole new value.
        value: String,
        /// Whether the annotation exists already.
        present: bool,
    },
    /// Another annotation with this value.
    Annotation {
        /// Key.
        key: Cow<'static, str>,
        /// Whole new value.
        value: String,
        /// Whether the annotation exists already.
        present: bool,
    },
    /// A file, as an annotation of the pod.
    File {
        /// Name; the end of the annotation's key.
        name: String,
        /// Whole new text.
        text: String,
        /// Whether the annotation exists already.
        present: bool,
        /// Variables that the edit adds to the text: names and values.
        variables: Vec<(String, String)>,
    },
    /// A volume that shows files.
    FilesVolume {
        /// Name.
        name: String,
        /// Names of the files.
        items: Vec<String>,
        /// Its index after the edit.
        index: usize,
    },
    /// A volume for `/dev/shm`.
    ShmVolume {
        /// Name.
        name: String,
        /// Bytes.
        size: i64,
        /// Its index after the edit.
        index: usize,
    },
    /// The volume of our own containers, or the image of their program as a volume.
    InPodVolume {
        /// Name.
        name: String,
        /// The image; `None` for the volume that is empty at first.
        image: Option<String>,
        /// Its index after the edit.
        index: usize,
    },
    /// An init container of our own.
    InitContainer {
        /// Name.
        name: &'static str,
        /// The container as JSON.
        text: String,
        /// Its index after the edit.
        index: usize,
    },
    /// A label of the node selector.
    NodeSelector {
        /// Key.
        key: String,
        /// Value.
        value: String,
    },
    /// A requirement of the required node affinity.
    NodeRequirement {
        /// Index of its term; the first term if none exists yet.
        term: usize,
        /// The requirement.
        requirement: SelectorExpression,
        /// Its index in `matchExpressions` after the edit.
        index: usize,
    },
    /// Units of an extended resource.
    Quantity {
        /// Container.
        container: usize,
        /// Limits or requests.
        list: ResourceList,
        /// Resource.
        name: String,
        /// Units.
        units: i64,
        /// Whether the key exists already, with fewer units.
        present: bool,
    },
    /// An added capability.
    Capability {
        /// Container.
        container: usize,
        /// Index in `capabilities.add` after the edit.
        index: usize,
    },
    /// A variable.
    Env {
        /// Container.
        container: usize,
        /// Name.
        name: Arc<str>,
        /// Value.
        value: Arc<str>,
        /// Index in `env` after the edit.
        index: usize,
    },
    /// A mount of the `/dev/shm` volume.
    ShmMount {
        /// Container.
        container: usize,
        /// Volume.
        volume: String,
        /// Index in `volumeMounts` after the edit.
        index: usize,
    },
    /// A read-only mount of files.
    FileMount {
        /// Container.
        container: usize,
        /// Volume.
        volume: String,
        /// Path in the container.
        path: &'static str,
        /// Path of the one file in the volume; `None` mounts the whole volume.
        sub_path: Option<String>,
        /// Index in `volumeMounts` after the edit.
        index: usize,
    },
}

/// Which of a container's resource lists.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum ResourceList {
    /// `limits`.
    Limits,
    /// `requests`.
    Requests,
}

impl ResourceList {
    /// Name of the field.
    #[must_use]
    pub fn field(self) -> &'static str {
        match self {
            Self::Limits => "limits",
            Self::Requests => "requests",
        }
    }
}

/// Bytes of a file, and values of a requirement, that take as long to plan and to keep as a variable.
const FILE_BYTES_PER_VALUE: usize = 512;
const VALUES_OF_REQUIREMENT_PER_VALUE: usize = 8;

impl Edit {
    /// What it takes to plan and to keep it, as a number of planned variables.
    #[must_use]
    pub fn cost_in_planned_values(&self) -> usize {
        match self {
            Self::File { text, .. } => 1 + text.len() / FILE_BYTES_PER_VALUE,
            Self::NodeRequirement { requirement, .. } => {
                1 + requirement.values.len() / VALUES_OF_REQUIREMENT_PER_VALUE
            }
            _ => 1,
        }
    }

    /// JSON pointer of the value in the patched object.
    #[must_use]
    pub fn path(&self) -> String {
        match self {
            Self::Networks { .. } => {
                format!("/metadata/annotations/{}", json_pointer_token(NETWORKS_ANNOTATION))
            }
            Self::ShmVolume { index, .. }
            | Self::FilesVolume { index, .. }
            | Self::InPodVolume { index, .. } => {
                format!("/spec/volumes/{index}")
            }
            Self::InitContainer { index, .. } => format!("/spec/initContainers/{index}"),
            Self::Annotation { key, .. } => format!("/metadata/annotations/{}", json_pointer_token(key)),
            Self::File { name, .. } => {
                format!("/metadata/annotations/{}", json_pointer_token(&format!("{FILE_ANNOTATION}{name}")))
            }
            Self::NodeSelector { key, .. } => format!("/spec/nodeSelector/{}", json_pointer_token(key)),
            Self::NodeRequirement { term, index, .. } => {
                format!("{NODE_AFFINITY_TERMS_PATH}/{term}/matchExpressions/{index}")
            }
            Self::Quantity { container, list, name, .. } => {
                format!(
                    "/spec/containers/{container}/resources/{}/{}",
                    list.field(),
                    json_pointer_token(name)
                )
            }
            Self::Capability { container, index } => {
                format!("/spec/containers/{container}/securityContext/capabilities/add/{index}")
            }
            Self::Env { container, index, .. } => format!("/spec/containers/{container}/env/{index}"),
            Self::ShmMount { container, index, .. } | Self::FileMount { container, index, .. } => {
                format!("/spec/containers/{container}/volumeMounts/{index}")
            }
        }
    }

    /// Key and whole value of the annotation that it sets, and whether the annotation exists already.
    #[must_use]
    pub fn annotation_that_it_sets(&self) -> Option<(Cow<'_, str>, &str, bool)> {
        Some(match self {
            Self::Networks { value, present } => (NETWORKS_ANNOTATION.into(), value, *present),
            Self::Annotation { key, value, present } => ((&**key).into(), value, *present),
            Self::File { name, text, present, .. } => {
                (format!("{FILE_ANNOTATION}{name}").into(), text, *present)
            }
            _ => return None,
        })
    }

    /// How it reaches the processes.
    #[must_use]
    pub fn carrier(&self) -> Carrier {
        match self {
            Self::Env { .. } => Carrier::Env,
            Self::File { .. } => Carrier::File,
            _ => Carrier::Object,
        }
    }

    /// The value that is set, in one line for a person.
    #[must_use]
    pub fn summary(&self) -> String {
        match self {
            Self::Networks { value, .. } => {
                format!(
                    "networks annotation: {}",
                    networks_annotation_summary::summary_of_networks_annotation(value)
                )
            }
            Self::ShmVolume { name, size, .. } => {
                format!("volume {name}: emptyDir in memory, sizeLimit {}", crate::pod::Bytes(*size))
            }
            Self::NodeSelector { key, value } => format!("node selector: {key}={value}"),
            Self::NodeRequirement { requirement, .. } => {
                let values = requirement.values.join(", ");
                let values = if values.is_empty() { values } else { format!(" ({values})") };
                let (key, operator) = (&requirement.key, requirement.operator.word());
                format!("node affinity: {key} {operator}{values}")
            }
            Self::Annotation { key, value, .. } => format!("annotation {key} = {value}"),
            Self::File { name, variables, .. } if name == NCCL_CONF => {
                let lines: Vec<String> =
                    variables.iter().map(|(name, value)| format!("{name}={value}")).collect();
                format!("{NCCL_CONF_PATH}: {}", lines.join(" "))
            }
            Self::File { name, text, .. } => format!("{FILES_PATH}/{name}: {} bytes", text.len()),
            Self::FilesVolume { name, items, .. } => format!("volume {name}: {}", items.join(", ")),
            Self::InPodVolume { name, image: None, .. } => format!("volume {name}: emptyDir"),
            Self::InPodVolume { name, image: Some(image), .. } => format!("volume {name}: image {image}"),
            Self::InitContainer { name, .. } if *name == MONITOR_CONTAINER => {
                format!("native sidecar {name}")
            }
            Self::InitContainer { name, .. } => format!("init container {name}"),
            Self::FileMount { volume, path, .. } => format!("mount {volume} at {path}"),
            Self::Quantity { list, name, units, .. } => format!("{}: {name} = {units}", list.field()),
            Self::Capability { .. } => "capability IPC_LOCK".to_owned(),
            Self::Env { name, value, .. } => format!("{name}={value}"),
            Self::ShmMount { volume, .. } => format!("mount {volume} at {SHM_PATH}"),
        }
    }

    /// Index of the container it belongs to.
    #[must_use]
    pub fn container(&self) -> Option<usize> {
        match self {
            Self::Networks { .. }
            | Self::Annotation { .. }
            | Self::File { .. }
            | Self::ShmVolume { .. }
            | Self::FilesVolume { .. }
            | Self::InPodVolume { .. }
            | Self::InitContainer { .. }
            | Self::NodeSelector { .. }
            | Self::NodeRequirement { .. } => None,
            Self::Quantity { container, .. }
            | Self::Capability { container, .. }
            | Self::Env { container, .. }
            | Self::FileMount { container, .. }
            | Self::ShmMount { container, .. } => Some(*container),
        }
    }
}

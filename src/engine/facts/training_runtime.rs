//! TrainingRuntime and ClusterTrainingRuntime of Kubeflow Trainer: the JobSet that TrainJobs are created from. They
//! are read only from files; a live cluster's are not watched.

use super::object_shape::Meta;
use crate::json::decode_with_place::{DecodeError, decode_object as decode};
use crate::json::types_of_decoded_fields::optional_struct;
use serde::Deserialize;
use serde_json::value::RawValue;

#[derive(Deserialize)]
struct RuntimeObject<'a> {
    #[serde(default, deserialize_with = "optional_struct")]
    metadata: Option<Meta>,
    #[serde(borrow, default)]
    spec: Option<&'a RawValue>,
}

/// The parts of a runtime that are kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TrainingRuntime {
    /// JSON text of its `spec`: few are needed, and then all of it.
    pub spec: Box<str>,
}

pub(super) fn read(json: &str) -> Result<(Meta, Option<TrainingRuntime>), DecodeError> {
    let object: RuntimeObject<'_> = decode(json)?;
    let runtime = object.spec.map(|spec| TrainingRuntime { spec: spec.get().into() });
    Ok((object.metadata.unwrap_or_default(), runtime))
}

//! Reading a pod. Not generic: a generic decoder is compiled again in every crate that calls it.

use super::PodView;
use super::pod_fields::TextOfPod;
use crate::json::decode_with_place::{self, DecodeError};

impl<'a> PodView<'a> {
    /// Reads a pod.
    ///
    /// # Errors
    /// [`DecodeError`] with the place of the first value that does not fit.
    pub fn read(json: &'a str) -> Result<Self, DecodeError> {
        let mut pod: Self = decode_with_place::decode_object(json)?;
        pod.source = TextOfPod::Pod(json);
        Ok(pod)
    }
}

//! Reading a pod. Not generic: a generic decoder is compiled again in every crate that calls it.

use super::PodView;
use crate::json::decode::{self, DecodeError};

impl<'a> PodView<'a> {
    /// Reads a pod.
    ///
    /// # Errors
    /// [`DecodeError`] with the place of the first value that does not fit.
    pub fn read(json: &'a str) -> Result<Self, DecodeError> {
        decode::object(json)
    }
}

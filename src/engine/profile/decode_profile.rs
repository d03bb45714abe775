//! Reading a profile. Not generic: a generic decoder is compiled again in every crate that calls it.

use super::FabricProfile;
use crate::json::decode_with_place::{self, DecodeError};

impl FabricProfile {
    /// Reads a profile.
    ///
    /// # Errors
    /// [`DecodeError`] with the place of the first value that does not fit.
    pub fn read(json: &str) -> Result<Self, DecodeError> {
        decode_with_place::decode_object(json)
    }
}

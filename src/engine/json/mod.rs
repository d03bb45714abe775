//! Rules for reading JSON: values that borrow and read `null` as absent, errors with a place, and Go's rules for
//! keys. YAML and positions in files belong to `manifest`.

pub mod annotations_of_object;
pub(crate) mod as_go_reads;
pub mod decode_with_place;
pub(crate) mod lists_too_long_to_decode;
pub(crate) mod name_value_pair;
pub(crate) mod nested_objects;
pub mod null_as_absent;
pub mod quantity;
mod read_error;
pub(crate) mod reader;
mod skip_value;
pub(crate) mod write;

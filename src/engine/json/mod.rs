//! Rules for reading JSON: values that borrow and read `null` as absent, errors with a place, and Go's rules for
//! keys. YAML and positions in files belong to `manifest`.

pub mod annotations_of_object;
pub(crate) mod as_go_reads;
mod cursor_in_text;
pub mod decode_with_place;
pub(crate) mod labels_within_limits;
pub(crate) mod lists_too_long_to_decode;
pub(crate) mod maps_of_request;
pub(crate) mod name_value_pair;
pub mod quantity;
mod read_error;
pub(crate) mod reader;
pub(crate) mod room_for_entries;
pub(crate) mod search_text_for_key;
pub mod types_of_decoded_fields;
pub(crate) mod write;

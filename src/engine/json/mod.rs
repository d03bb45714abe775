//! Rules for reading JSON: values that borrow and read `null` as absent, errors with a place, and Go's rules for
//! keys. YAML and positions in files belong to `manifest`.

pub mod annotated;
pub mod decode;
pub(crate) mod go;
pub(crate) mod plain_pair;
pub mod quantity;
pub(crate) mod reader;
mod skip;
pub mod values;
pub(crate) mod write;
mod wrong;

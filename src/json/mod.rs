//! JSON as it is read here: values that borrow and take `null` for absent, errors with a place, and Go's rules for keys.

pub mod decode;
pub(crate) mod go;
pub mod values;

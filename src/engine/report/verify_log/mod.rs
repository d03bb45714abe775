//! The result of `verify-log`.

pub mod json;
pub mod text;

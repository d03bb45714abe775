//! The result of `verify-log`.

pub mod document;
pub mod text;

//! Which values others accept: the fields of objects as their CRDs have them, and of configurations as plugins decode
//! them. The tables are compiled in and parsed when they are first needed. What a misfit means for the object is for
//! rules to say.

mod misfits;
mod pattern;
mod table;

pub use misfits::{Misfit, MisfitKind, Reader, misfits};
pub use pattern::Pattern;
pub use table::{Field, Place, Schema, Takes, fields_of_plugin, places_with_key, schema_of_crd};

//! How long an all-reduce of the gradients takes on a fabric, and what is left of the GPUs' time.
//!
//! The figures are those that practitioners publish, and the formulas are simple on purpose: an estimate shows orders of
//! magnitude, and the assumptions stand beside it.

mod all_reduce_time;
mod fabric_throughput;
mod json;
mod model_sizes;
mod text;

pub use all_reduce_time::{AllReduce, Step, Verdict};
pub use fabric_throughput::{FABRICS, Fabric, Link};
pub use json::{Document, SCHEMA};
pub use model_sizes::{MODELS, Model, Precision, parse_parameter_count};
pub use text::{one_line, write};

//! Files of the training image: bytes in, names out.

pub mod elf;
pub mod loader_cache;
pub mod versions;

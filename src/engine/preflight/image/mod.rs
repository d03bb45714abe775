//! Files of the training image: bytes in, names out.

pub mod elf;
pub mod libibverbs_driver_config;
pub mod library_versions;
pub mod loader_cache;

//! Files of the training image: bytes in, names out.

pub mod driver_file;
pub mod elf;
pub mod library_versions;
pub mod loader_cache;

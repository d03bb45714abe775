//! TLS of the webhook port: the certificate, who may call, and the settings of handshakes.

mod certificate;
mod clients;
mod config;
mod names;

pub(crate) use certificate::certified;
pub use certificate::{Served, Store, TlsError, provider};
pub use clients::{ClientSettings, Clients};
pub use config::server_config;

//! Who may call the webhook port, as flags of `serve`.

use crate::tls::ClientSettings;
use std::path::PathBuf;
use std::time::Duration;

/// Both or neither: an authority alone lets in everybody it ever signed for.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Client certificates")]
pub(super) struct Clients {
    /// CA of client certificates (PEM); clients without one of --client-name are refused in the handshake
    #[arg(long, value_name = "FILE", env = "FABRIC_ADMISSION_CLIENT_CA", requires = "client_name")]
    client_ca: Option<PathBuf>,
    /// Common name, DNS name or URI that a client certificate must have; may be given more than once
    #[arg(
        long, value_name = "NAME", env = "FABRIC_ADMISSION_CLIENT_NAME", value_delimiter = ',', requires = "client_ca",
        value_parser = clap::builder::NonEmptyStringValueParser::new()
    )]
    client_name: Vec<String>,
}

impl Clients {
    /// What the server needs of them.
    pub(super) fn settings(&self, poll: Duration) -> Option<ClientSettings> {
        let names = self.client_name.clone();
        self.client_ca.clone().map(|ca| ClientSettings { ca, names, poll })
    }
}

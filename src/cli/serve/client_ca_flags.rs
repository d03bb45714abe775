//! Who may call the webhook port, as flags of `serve`.

use crate::tls::ClientSettings;
use std::path::PathBuf;
use std::time::Duration;

/// Both or neither: a CA without names would admit every client that it ever signed a certificate for.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Client certificates")]
pub(super) struct ClientCaFlags {
    /// PEM file with the CA of client certificates. The server accepts a client only if the CA signed the client's
    /// certificate and the certificate has a name from --client-name
    #[arg(long, value_name = "FILE", env = "FABRIC_ADMISSION_CLIENT_CA", requires = "client_name")]
    client_ca: Option<PathBuf>,
    /// Common name, DNS name or URI that the server accepts in a client certificate; repeatable
    #[arg(
        long, value_name = "NAME", env = "FABRIC_ADMISSION_CLIENT_NAME", value_delimiter = ',', requires = "client_ca",
        value_parser = clap::builder::NonEmptyStringValueParser::new()
    )]
    client_name: Vec<String>,
}

impl ClientCaFlags {
    /// The settings for the server.
    pub(super) fn settings(&self, poll: Duration) -> Option<ClientSettings> {
        let names = self.client_name.clone();
        self.client_ca.clone().map(|ca| ClientSettings { ca, names, poll })
    }
}

//! `version`: what this binary is, for people and for programs.

use super::Exit;
use crate::kubernetes_version::OLDEST;
use clap::ValueEnum;
use serde_json::json;
use std::io::{self, Write};

/// The commit, where the build names one.
const COMMIT: Option<&str> = option_env!("FABRIC_ADMISSION_COMMIT");

#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    /// Output format
    #[arg(long, short, value_enum, default_value_t = Format::Text)]
    output: Format,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Format {
    /// Text for a terminal
    Text,
    /// One JSON document
    Json,
}

pub(super) fn run(arguments: &Arguments, out: &mut dyn Write) -> io::Result<Exit> {
    let (version, os, arch) = (env!("CARGO_PKG_VERSION"), std::env::consts::OS, std::env::consts::ARCH);
    match arguments.output {
        Format::Text => {
            let commit = COMMIT.map(|commit| format!(", commit {commit}")).unwrap_or_default();
            writeln!(
                out,
                "fabric-admission {version} ({os}/{arch}{commit}), for Kubernetes {OLDEST} or newer"
            )?;
        }
        Format::Json => {
            let document = json!({
                "name": "fabric-admission", "version": version, "commit": COMMIT,
                "os": os, "arch": arch, "minimumKubernetes": OLDEST.to_string(),
            });
            writeln!(out, "{document:#}")?;
        }
    }
    Ok(Exit::Clean)
}

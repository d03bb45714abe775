//! `profiles`: the FabricProfiles of a site. What a profile means is decided in `profile`, `resolve` and `review`.

mod given_profile;
mod list;
mod profiles_source;
mod show;
mod test;
mod used_by;
mod validate;

use super::Exit;
use clap::Subcommand;
use std::io::{self, Write};

#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// List FabricProfiles with their nodes and problems. Without --profiles, --cluster and --live, list the built-in
    /// base profiles
    List(Box<list::Arguments>),
    /// Show a FabricProfile with all inherited values, and the origin of each value
    Show(Box<show::Arguments>),
    /// Check FabricProfiles and report all faults at once
    Validate(validate::Arguments),
    /// Test FabricProfiles: check that pods get the expected profile, changes and findings
    Test(Box<test::Arguments>),
}

pub(super) fn run(arguments: &Arguments, out: &mut dyn Write, err: &mut dyn Write) -> io::Result<Exit> {
    match &arguments.command {
        Command::List(arguments) => list::run(arguments, out, err),
        Command::Show(arguments) => show::run(arguments, out, err),
        Command::Validate(arguments) => validate::run(arguments, out, err),
        Command::Test(arguments) => test::run(arguments, out, err),
    }
}

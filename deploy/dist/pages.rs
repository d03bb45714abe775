//! Writes the man pages and the shell completions into a directory: `cargo run --example pages -- DIRECTORY`.

use clap_complete::Shell;
use std::io;
use std::path::Path;

fn main() -> io::Result<()> {
    let directory = std::env::args_os().nth(1).ok_or_else(|| io::Error::other("usage: pages DIRECTORY"))?;
    let directory = Path::new(&directory);
    let (man, completions) = (directory.join("man"), directory.join("completions"));
    std::fs::create_dir_all(&man)?;
    std::fs::create_dir_all(&completions)?;
    let command = fabric_admission::cli::command();
    clap_mangen::generate_to(command.clone(), &man)?;
    for shell in [Shell::Bash, Shell::Zsh, Shell::Fish] {
        clap_complete::generate_to(shell, &mut command.clone(), "fabric-admission", &completions)?;
    }
    Ok(())
}

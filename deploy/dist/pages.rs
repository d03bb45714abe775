//! Writes what a release has beside the binary into a directory: man pages, completions, and the licences of all crates
//! that are in the binary. `cargo run --example pages -- DIRECTORY`.
#![allow(clippy::indexing_slicing)] // JSON values: an absent key is null

use clap_complete::Shell;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::Path;
use std::process::Command;

fn main() -> io::Result<()> {
    let directory = std::env::args_os().nth(1).ok_or_else(|| io::Error::other("usage: pages DIRECTORY"))?;
    let directory = Path::new(&directory);
    let (man, completions) = (directory.join("man"), directory.join("completions"));
    std::fs::create_dir_all(&man)?;
    std::fs::create_dir_all(&completions)?;
    let command = fabric_admission_cli::cli::command();
    clap_mangen::generate_to(command.clone(), &man)?;
    for shell in [Shell::Bash, Shell::Zsh, Shell::Fish] {
        clap_complete::generate_to(shell, &mut command.clone(), "fabric-admission", &completions)?;
    }
    std::fs::write(directory.join("LICENSES-OF-DEPENDENCIES.txt"), licences()?)
}

/// Names of files with a licence, or a notice that the licence asks to pass on.
const FILES: [&str; 4] = ["LICENSE", "LICENCE", "COPYING", "NOTICE"];

/// Every crate of the binary with its licence files. Texts that several crates share are printed once.
fn licences() -> io::Result<String> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let done = Command::new(cargo)
        .args(["metadata", "--format-version=1", "--locked", "--filter-platform=x86_64-unknown-linux-musl"])
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()?;
    let metadata: Value = serde_json::from_slice(&done.stdout)?;
    let mut texts: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let mut page = "Crates in the binary of fabric-admission, with their licences.\n\n".to_owned();
    let linked = linked(&metadata);
    for package in list(&metadata["packages"]) {
        if package["source"].is_null() || !linked.contains(package["id"].as_str().unwrap_or_default()) {
            continue;
        }
        let text = |key: &str| package[key].as_str().unwrap_or("unknown").to_owned();
        let name = format!("{} {}", text("name"), text("version"));
        page += &format!("{name}: {}\n", text("license"));
        let manifest = text("manifest_path");
        let Some(root) = Path::new(&manifest).parent() else { continue };
        let mut files: Vec<_> = std::fs::read_dir(root)?.filter_map(Result::ok).collect();
        files.sort_by_key(std::fs::DirEntry::file_name);
        for file in files {
            let upper = file.file_name().to_string_lossy().to_uppercase();
            if FILES.iter().any(|prefix| upper.starts_with(prefix)) && file.path().is_file() {
                texts.entry(std::fs::read_to_string(file.path())?).or_default().push(name.clone());
            }
        }
    }
    for (text, names) in texts {
        page += &format!("\n{}\n{}\n\n{text}", "=".repeat(79), names.join(", "));
    }
    Ok(page)
}

fn list(value: &Value) -> &[Value] {
    value.as_array().map(Vec::as_slice).unwrap_or_default()
}

/// Packages that the binary links: those that it reaches by ordinary dependencies.
fn linked(metadata: &Value) -> BTreeSet<&str> {
    let mut nodes: BTreeMap<&str, &Value> = BTreeMap::new();
    for node in list(&metadata["resolve"]["nodes"]) {
        nodes.insert(node["id"].as_str().unwrap_or_default(), node);
    }
    let mut found = BTreeSet::new();
    let mut open: Vec<&str> = metadata["resolve"]["root"].as_str().into_iter().collect();
    while let Some(id) = open.pop() {
        if !found.insert(id) {
            continue;
        }
        for dependency in nodes.get(id).map_or(&[][..], |node| list(&node["deps"])) {
            // The kind of an ordinary dependency is null.
            if list(&dependency["dep_kinds"]).iter().any(|kind| kind["kind"].is_null()) {
                open.extend(dependency["pkg"].as_str());
            }
        }
    }
    found
}

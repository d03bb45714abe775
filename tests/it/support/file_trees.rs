//! Trees of files that model what a pod sees, from listings that are easier to review than files.
//!
//! ```text
//! # a comment
//! base: roce-vf                                   the entries of another listing first
//! sys/class/net/rail{0..7}/mtu = 4200             a file; repeated lines of a path make several lines
//! sys/class/net/rail{0..7}/device -> ../../x{n}   a link; {n} is the number of the expansion
//! dev/infiniband/uverbs3 : missing                not there, or : dir, : pipe
//! usr/lib/libibverbs.so.1 : elf needed=libnl-3.so.200 text=-rdmav59.so
//! ```

use super::{read, root};
use crate::support::elf;
use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

/// An entry of a tree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Entry {
    File(Vec<u8>),
    Link(String),
    Directory,
    Pipe,
}

/// A tree: entries by path.
#[derive(Debug, Clone, Default)]
pub(crate) struct Tree {
    pub(crate) entries: BTreeMap<String, Entry>,
}

/// Where a listing is.
pub(crate) fn path(name: &str) -> PathBuf {
    root().join("tests/preflight").join(name).with_extension("txt")
}

impl Tree {
    /// Reads a listing of `tests/preflight`, and its bases.
    pub(crate) fn listed(name: &str) -> Result<Self, String> {
        Self::parse(&read(&path(name))?)
    }

    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        let mut tree = Self::default();
        let mut own: BTreeMap<String, Vec<u8>> = BTreeMap::new();
        for line in text.lines().filter(|line| !line.trim().is_empty() && !line.starts_with('#')) {
            if let Some(base) = line.strip_prefix("base: ") {
                tree.entries.extend(Self::listed(base)?.entries);
                continue;
            }
            for line in expanded(line)? {
                if let Some((path, content)) =
                    line.split_once(" = ").or_else(|| Some((line.strip_suffix(" =")?, "")))
                {
                    let lines = own.entry(path.to_owned()).or_default();
                    lines.extend(content.as_bytes());
                    lines.push(b'\n');
                    tree.put(path, Entry::File(lines.clone()));
                } else if let Some((path, target)) = line.split_once(" -> ") {
                    tree.put(path, Entry::Link(target.to_owned()));
                } else {
                    let (path, kind) =
                        line.split_once(" : ").ok_or_else(|| format!("{line:?}: unknown form"))?;
                    match kind.split_once(' ').unwrap_or((kind, "")) {
                        ("missing", _) => tree.remove(path),
                        ("dir", _) => tree.put(path, Entry::Directory),
                        ("pipe", _) => tree.put(path, Entry::Pipe),
                        ("empty", _) => tree.put(path, Entry::File(Vec::new())),
                        ("elf", parts) => tree.put(path, Entry::File(elf::library(parts)?)),
                        _ => return Err(format!("{line:?}: unknown kind")),
                    }
                }
            }
        }
        Ok(tree)
    }

    pub(crate) fn put(&mut self, path: &str, entry: Entry) {
        self.entries.insert(path.to_owned(), entry);
    }

    /// Removes an entry, and all below it.
    pub(crate) fn remove(&mut self, path: &str) {
        let below = format!("{path}/");
        self.entries.retain(|known, _| known != path && !known.starts_with(&below));
    }

    /// Writes the tree to a directory.
    pub(crate) fn write(&self, directory: &Path) -> Result<(), String> {
        for (name, entry) in &self.entries {
            let path = directory.join(name);
            let fault = |e: std::io::Error| format!("{name}: {e}");
            fs::create_dir_all(path.parent().unwrap_or(directory)).map_err(fault)?;
            match entry {
                Entry::File(content) => fs::write(&path, content).map_err(fault)?,
                Entry::Link(target) => symlink(target, &path).map_err(fault)?,
                Entry::Directory => fs::create_dir_all(&path).map_err(fault)?,
                Entry::Pipe => rustix::fs::mknodat(
                    rustix::fs::CWD,
                    &path,
                    rustix::fs::FileType::Fifo,
                    rustix::fs::Mode::from_raw_mode(0o644),
                    0,
                )
                .map_err(|e| fault(e.into()))?,
            }
        }
        Ok(())
    }
}

/// A line for each number of its range `{a..b}`, with `{n}` replaced by the number and `{x}` by it in hexadecimal.
fn expanded(line: &str) -> Result<Vec<String>, String> {
    let Some((before, rest)) = line
        .split_once('{')
        .filter(|(_, rest)| rest.contains("..") && !line.starts_with(".preflight/environment"))
    else {
        return Ok(vec![line.to_owned()]);
    };
    let (range, after) = rest.split_once('}').ok_or_else(|| format!("{line:?}: no closing brace"))?;
    let (first, last) = range.split_once("..").ok_or_else(|| format!("{line:?}: not a range"))?;
    let number = |text: &str| text.parse::<u32>().map_err(|e| format!("{line:?}: {e}"));
    let replaced = |n: u32| {
        let text = |text: &str| text.replace("{n}", &n.to_string()).replace("{x}", &format!("{n:x}"));
        format!("{}{n}{}", text(before), text(after))
    };
    Ok((number(first)?..=number(last)?).map(replaced).collect())
}

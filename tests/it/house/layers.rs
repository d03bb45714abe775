//! What the core may not name: a scan of `src/` for paths, comments and strings aside.

use crate::support::{names, read, root};
use std::path::{Path, PathBuf};

/// The modules of `src/`, bottom to top. A module may name those of floors below its own, and none beside it. The same
/// in words and as a picture: docs/design.md.
pub(crate) const FLOORS: &[&[&str]] = &[
    &[
        "certificates",
        "decision_limits",
        "estimate",
        "known_lines",
        "kubernetes_version",
        "manifest",
        "nccl",
        "rdma",
        "text",
    ],
    &["json", "nccl_log", "preflight", "replacements", "schemas", "telemetry", "tls"],
    &["monitor", "multus", "pod"],
    &["profile"],
    &["nodes"],
    &["facts"],
    &["snapshot"],
    &["demands"],
    &["resolve"],
    &["cluster", "plan"],
    &["certificate_keeper", "patch", "rules"],
    &["review"],
    &["discover", "doctor", "pod_agent", "report", "server"],
    &["cli"],
    // The roots of the crates: the library declares the modules, the binary calls the command line.
    &["lib", "main"],
];

/// Modules that do input and output. All others are the core: they take bytes and facts and give an outcome.
pub(crate) const SHELL: &[&str] = &[
    "cli",
    "cluster",
    "certificate_keeper",
    "lib",
    "main",
    "manifest",
    "pod_agent",
    "replacements",
    "server",
    "telemetry",
    "tls",
];

/// Crates that do input and output.
const CRATES: &[&str] = &["axum", "clap", "hyper", "kube", "rayon", "rustls", "tokio"];
/// What one file of the core may name all the same: the derive that makes the CRD from the type of the files. It has
/// no input or output, and one type is worth more than a clean list (docs/adr/0008-one-profile-type.md).
const EXCEPTIONS: &[(&str, &[&str])] =
    &[("src/engine/profile/schema.rs", &["kube::CustomResource", "kube::CustomResourceExt"])];
const STD: &[&str] = &["env", "fs", "net", "process", "thread"];
const CLOCKS: &[&str] = &["Instant", "SystemTime", "*"];

/// Every `.rs` file below a directory, without what cargo built there.
pub(crate) fn sources(directory: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for name in names(directory) {
        let path = directory.join(&name);
        if path.is_dir() && name != "target" {
            found.extend(sources(&path));
        } else if name.ends_with(".rs") {
            found.push(path);
        }
    }
    found
}

/// The top-level module that a file of `src/` belongs to.
fn module(file: &Path) -> String {
    let relative = file.strip_prefix(root().join("src")).unwrap_or(file);
    let relative = relative.strip_prefix("engine").unwrap_or(relative);
    let first = relative.iter().next().unwrap_or_default().to_string_lossy();
    first.trim_end_matches(".rs").to_owned()
}

/// Every forbidden path in the core.
pub(crate) fn breaches() -> Result<Vec<String>, String> {
    let src = root().join("src");
    let mut found = Vec::new();
    for file in sources(&src) {
        let module = module(&file);
        let shown = file.strip_prefix(root()).unwrap_or(&file).display().to_string();
        if SHELL.contains(&module.as_str()) {
            continue;
        }
        let depth = file.strip_prefix(&src).unwrap_or(&file).components().count();
        for path in paths(&tokens(&read(&file)?)) {
            let named = path.join("::");
            let excepted =
                EXCEPTIONS.iter().any(|(file, paths)| *file == shown && paths.contains(&named.as_str()));
            if forbidden(&path, depth) && !excepted {
                found.push(format!("{shown}: {named}"));
            }
        }
    }
    Ok(found)
}

/// What the core may depend on: crates without input and output. Of kube it has the derive only.
const DEPENDENCIES: &[&str] = &[
    "anstyle",
    "base64",
    "fabric-admission-engine",
    "fixedbitset",
    "ipnet",
    "k8s-openapi",
    "kube",
    "memchr",
    "miniz_oxide",
    "object",
    "rustls-pki-types",
    "schemars",
    "serde",
    "serde_json",
    "serde_path_to_error",
    "strsim",
    "thiserror",
    "unicode-width",
];

/// Dependencies of the core that are not on the list.
pub(crate) fn other_dependencies() -> Result<Vec<String>, String> {
    let mut lines = String::new();
    for crate_ in ["src/engine", "src/engine/discover", "src/engine/doctor", "src/engine/report"] {
        let manifest = read(&root().join(crate_).join("Cargo.toml"))?;
        let section = manifest.split_once("\n[dependencies]\n").ok_or("no dependencies")?.1;
        lines.push_str(section.split("\n[").next().unwrap_or_default());
        lines.push('\n');
    }
    let name = |line: &str| line.split([' ', '.']).next().unwrap_or_default().to_owned();
    let bad = |line: &&str| {
        let name = name(line);
        !DEPENDENCIES.contains(&name.as_str()) || name == "kube" && line.contains("features")
    };
    let lines = lines.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
    Ok(lines.filter(bad).map(str::to_owned).collect())
}

fn forbidden(path: &[String], depth: usize) -> bool {
    let path: Vec<&str> = path.iter().map(String::as_str).collect();
    let supers = path.iter().take_while(|s| **s == "super").count();
    match path.as_slice() {
        ["crate", module, ..] => SHELL.contains(module),
        ["std" | "core", "*"] => true,
        ["std", "time"] => true,
        ["std", "time", item, ..] => CLOCKS.contains(item),
        ["std", module, ..] => STD.contains(module),
        [first, _, ..] if CRATES.contains(first) => true,
        // As many steps up as the file is deep lead out of the core's module.
        _ if supers >= depth && supers > 0 => path.get(supers).is_some_and(|m| SHELL.contains(m)),
        _ => false,
    }
}

/// Words and punctuation of Rust source; comments, strings and characters left out, but for strings that are paths in
/// an attribute (`deserialize_with = "a::b"`).
pub(crate) fn tokens(source: &str) -> Vec<String> {
    let mut tokens: Vec<String> = Vec::new();
    let mut rest = source;
    // Open brackets of the attribute that is being read.
    let mut attribute = 0_usize;
    while let Some(c) = rest.chars().next() {
        let length = if rest.starts_with("//") {
            rest.find('\n').unwrap_or(rest.len())
        } else if rest.starts_with("/*") {
            rest.find("*/").map_or(rest.len(), |at| at + 2)
        } else if let Some(length) = string(rest) {
            let text = rest[..length].trim_matches('"');
            let path = |c: char| c.is_alphanumeric() || matches!(c, '_' | ':');
            if attribute > 0 && text.contains("::") && text.chars().all(path) {
                tokens.extend(self::tokens(text));
            }
            length
        } else if c.is_alphabetic() || c == '_' {
            let length = rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len());
            tokens.push(rest[..length].to_owned());
            length
        } else if rest.starts_with("::") {
            tokens.push("::".to_owned());
            2
        } else {
            let opens = c == '[' && (attribute > 0 || tokens.last().is_some_and(|t| t == "#"));
            attribute = (attribute + usize::from(opens)).saturating_sub(usize::from(c == ']'));
            if !c.is_whitespace() {
                tokens.push(c.to_string());
            }
            c.len_utf8()
        };
        rest = &rest[length..];
    }
    tokens
}

/// Length of the string or character literal that a text starts with.
pub(crate) fn string(text: &str) -> Option<usize> {
    let plain = |text: &str, quote: char| {
        let mut escaped = false;
        let end = text.char_indices().skip(1).find(|(_, c)| {
            let ends = *c == quote && !escaped;
            escaped = *c == '\\' && !escaped;
            ends
        });
        end.map_or(text.len(), |(at, _)| at + 1)
    };
    let prefix = text.len() - text.trim_start_matches(['b', 'c']).len();
    let body = &text[prefix.min(1)..];
    let start = text.len() - body.len();
    if body.starts_with('"') {
        return Some(start + plain(body, '"'));
    }
    if let Some(raw) = body.strip_prefix('r') {
        let hashes = raw.len() - raw.trim_start_matches('#').len();
        if raw[hashes..].starts_with('"') {
            let close = format!("\"{}", "#".repeat(hashes));
            let inner = &raw[hashes + 1..];
            let end = inner.find(&close).map_or(inner.len(), |at| at + close.len());
            return Some(start + 1 + hashes + 1 + end);
        }
    }
    // 'x' and '\n' are characters, 'a in a type is a lifetime.
    let character = text.strip_prefix('\'')?;
    let second = character.chars().nth(1);
    (character.starts_with('\\') || second == Some('\'')).then(|| plain(text, '\''))
}

/// A path as the source writes it.
pub(crate) struct Named {
    pub(crate) path: Vec<String>,
    /// The name that a `use` brings into scope; none for any other path.
    pub(crate) name: Option<String>,
    /// Whether the `use` hands the name on (`pub use`).
    pub(crate) public: bool,
    /// Whether a dot or `fn` stands before it: the name of a method, a field or a function that is defined here.
    pub(crate) member: bool,
    /// Whether it is called.
    pub(crate) called: bool,
    /// The modules that are written out around it in the same file.
    pub(crate) inside: Vec<String>,
}

/// Every path of the source, `use` trees spelt out.
fn paths(tokens: &[String]) -> Vec<Vec<String>> {
    named(tokens).into_iter().map(|n| n.path).collect()
}

/// Every path of the source with what stands around it.
pub(crate) fn named(tokens: &[String]) -> Vec<Named> {
    let mut found = Vec::new();
    let mut inside: Vec<(String, usize)> = Vec::new();
    let mut depth = 0_usize;
    let mut at = 0;
    let is = |at: usize, what: &str| tokens.get(at).is_some_and(|t| t == what);
    let before = |at: usize, what: &str| at > 0 && is(at - 1, what);
    while at < tokens.len() {
        let around = || inside.iter().map(|(name, _)| name.clone()).collect();
        // `use<'a>` names what a type captures.
        if tokens[at] == "use" && !is(at + 1, "<") {
            let public = before(at, "pub") || before(at, ")");
            let mut trees = Vec::new();
            at = tree(tokens, at + 1, &mut Vec::new(), &mut trees);
            found.extend(trees.into_iter().map(|(path, name)| Named {
                path,
                name: Some(name),
                public,
                member: false,
                called: false,
                inside: around(),
            }));
            continue;
        }
        if tokens[at] == "mod" && is(at + 2, "{") {
            inside.push((tokens[at + 1].clone(), depth));
            depth += 1;
            at += 3;
            continue;
        }
        if word(&tokens[at]) {
            let member = before(at, ".") || before(at, "fn");
            let mut path = vec![tokens[at].clone()];
            while is(at + 1, "::") && tokens.get(at + 2).is_some_and(|t| word(t)) {
                path.push(tokens[at + 2].clone());
                at += 2;
            }
            let called = is(at + 1, "(");
            found.push(Named { path, name: None, public: false, member, called, inside: around() });
        } else if is(at, "{") {
            depth += 1;
        } else if is(at, "}") {
            depth = depth.saturating_sub(1);
            if inside.last().is_some_and(|(_, opened)| *opened == depth) {
                inside.pop();
            }
        }
        at += 1;
    }
    found
}

fn word(token: &str) -> bool {
    token.starts_with(|c: char| c.is_alphabetic() || c == '_')
}

/// A tree of `use`, from `at`: its paths, each with the name it brings; returns where it ends.
fn tree(
    tokens: &[String],
    mut at: usize,
    prefix: &mut Vec<String>,
    found: &mut Vec<(Vec<String>, String)>,
) -> usize {
    let depth = prefix.len();
    let mut name = None;
    while let Some(token) = tokens.get(at) {
        at += 1;
        match token.as_str() {
            "::" => {}
            "{" => {
                while tokens.get(at).is_some_and(|t| t != "}") {
                    at = tree(tokens, at, prefix, found);
                    if tokens.get(at).is_some_and(|t| t == ",") {
                        at += 1;
                    }
                }
                prefix.truncate(depth);
                return at + 1;
            }
            "," | "}" | ";" => {
                at -= 1;
                break;
            }
            "as" => {
                name = tokens.get(at).cloned();
                at += 1;
            }
            other => prefix.push(other.to_owned()),
        }
    }
    if prefix.len() > depth {
        // A crate named alone (`use tokio;`) counts as a path into it.
        let mut path = prefix.clone();
        if path.len() == 1 {
            path.push("self".to_owned());
        }
        let last = path.iter().rev().find(|s| *s != "self").cloned();
        found.push((path, name.or(last).unwrap_or_default()));
    }
    prefix.truncate(depth);
    at
}

/// The scan itself must see what it is to see.
pub(crate) fn sees() -> Result<(), String> {
    let shown = |source: &str| {
        let all = paths(&tokens(source));
        all.iter().filter(|p| forbidden(p, 2)).map(|p| p.join("::")).collect::<Vec<_>>()
    };
    for (source, expected) in [
        ("use std::{fmt, fs as f, time::{Duration, Instant}};", "std::fs std::time::Instant"),
        ("use crate::{text::token, cli::{self, run}};", "crate::cli::self crate::cli::run"),
        (
            "fn a() { let x = crate::manifest::read_documents_of_file(\"\"); }",
            "crate::manifest::read_documents_of_file",
        ),
        ("use super::super::manifest;", "super::super::manifest"),
        ("fn f<'a>(x: &'a str) -> impl Sized + use<'a> { x }", ""),
        ("use tokio; fn f<'a>(x: &'a str) { tokio::spawn('{') }", "tokio::self tokio::spawn"),
        ("// std::fs\n/* std::fs */ const A: &str = \"std::fs\"; const B: &str = r#\"\" std::fs\"#;", ""),
        ("use std::{self, time::Duration}; use std::collections::BTreeMap; use super::manifest;", ""),
        (
            "#[serde(default, with = \"crate::cli::a\")] struct A; const B: [&str; 1] = [\"crate::cli::b\"];",
            "crate::cli::a",
        ),
        ("const Q: char = '\\''; const R: u8 = b'\"'; use std::net::IpAddr;", "std::net::IpAddr"),
    ] {
        let seen = shown(source).join(" ");
        if seen != expected {
            return Err(format!("in {source:?} the scan sees {seen:?}, not {expected:?}"));
        }
    }
    Ok(())
}

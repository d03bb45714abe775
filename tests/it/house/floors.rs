//! The floors of `src/`: no import goes up or sideways, and nothing imports itself through others. The picture of the
//! modules in docs/design.md follows from the same imports.

use crate::house::imports_of_files::Modules;
use crate::house::layers::FLOORS;
use crate::support::{golden, read, root};
use std::collections::{BTreeMap, BTreeSet};

type Imports = BTreeMap<(String, String), String>;

/// Everything in `src/` that is not as [`FLOORS`] has it.
pub(crate) fn breaches() -> Result<Vec<String>, String> {
    Ok(wrong(&Modules::read(&root().join("src"))?, FLOORS))
}

/// The part of a path below `folder` that stands for a whole: a file, or a folder with all that is in it.
fn part<'p>(path: &'p str, folder: &str) -> Option<&'p str> {
    let rest = path.strip_prefix(folder)?;
    Some(rest.find('/').map_or(rest, |at| &rest[..=at]))
}

fn name(path: &str) -> &str {
    part(path, "").unwrap_or(path).trim_end_matches('/').trim_end_matches(".rs")
}

fn wrong(modules: &Modules, floors: &[&[&str]]) -> Vec<String> {
    let mut found = Vec::new();
    let mut floor: BTreeMap<&str, usize> = BTreeMap::new();
    for (number, names) in floors.iter().enumerate() {
        for name in *names {
            if floor.insert(name, number).is_some() {
                found.push(format!("{name} stands on two floors"));
            }
        }
    }
    let known: BTreeSet<&str> = modules.files().map(name).collect();
    let listed: BTreeSet<&str> = floor.keys().copied().collect();
    found.extend(
        known.difference(&listed).map(|n| format!("{n}: on which floor? Say so in tests/it/house/layers.rs")),
    );
    found.extend(listed.difference(&known).map(|n| format!("{n} is on a floor and not in src/")));
    let imports = modules.imports();
    for ((from, to), path) in &imports {
        let at = |file: &str| floor.get(name(file)).copied();
        if name(from) != name(to) && at(from) <= at(to) {
            let way = if at(from) == at(to) { "beside it" } else { "above it" };
            found.push(format!("{from} names {path}: {to} is {way}"));
        }
    }
    let folders = modules.files().flat_map(|f| f.match_indices('/').map(move |(at, _)| &f[..=at]));
    for folder in folders.chain([""]).collect::<BTreeSet<_>>() {
        found.extend(cycle(&imports, folder));
    }
    found
}

/// A cycle among the files and folders that stand directly in one folder. A cycle of any files is one in the folder
/// that holds them all, so none escapes.
fn cycle(imports: &Imports, folder: &str) -> Option<String> {
    let mut named: BTreeMap<(&str, &str), String> = BTreeMap::new();
    for ((from, to), path) in imports {
        if let (Some(a), Some(b)) = (part(from, folder), part(to, folder))
            && a != b
        {
            named.entry((a, b)).or_insert_with(|| format!("{from} names {path}"));
        }
    }
    // What imports nothing that is left is on no cycle, nor is what nothing that is left imports.
    let mut left: BTreeSet<&str> = named.keys().flat_map(|(a, b)| [*a, *b]).collect();
    loop {
        let both = |part: &&str| {
            let other = |a: &str, b: &str| a == *part && left.contains(b);
            named.keys().any(|(a, b)| other(a, b)) && named.keys().any(|(a, b)| other(b, a))
        };
        let rest: BTreeSet<&str> = left.iter().copied().filter(both).collect();
        if rest.len() == left.len() {
            break;
        }
        left = rest;
    }
    let mut way = vec![*left.first()?];
    while let Some(((_, next), _)) =
        named.iter().find(|((a, b), _)| Some(a) == way.last() && left.contains(b))
    {
        if let Some(start) = way.iter().position(|w| w == next) {
            let steps = way[start..].iter().zip(way[start + 1..].iter().chain([next]));
            let steps = steps.filter_map(|(a, b)| named.get(&(*a, *b)).map(String::as_str));
            let folder = if folder.is_empty() { "src/" } else { folder };
            return Some(format!("a cycle in {folder}: {}", steps.collect::<Vec<_>>().join("; ")));
        }
        way.push(*next);
    }
    None
}

/// Compares the picture in docs/design.md with the modules, or draws the picture again.
pub(crate) fn drawn() -> Result<(), String> {
    let page = root().join("docs/design.md");
    let text = read(&page)?;
    let (start, end) = ("<!-- modules: drawn by the tests -->\n", "<!-- end of modules -->");
    let lost = || format!("docs/design.md has no line {}", start.trim());
    let (before, rest) = text.split_once(start).ok_or_else(lost)?;
    let (_, after) = rest.split_once(end).ok_or_else(lost)?;
    let modules = Modules::read(&root().join("src"))?;
    golden(&page, Some(&format!("{before}{start}{}{end}{after}", picture(&modules.imports(), FLOORS))))
}

/// Which modules each one imports.
fn between(imports: &Imports) -> BTreeMap<&str, BTreeSet<&str>> {
    let mut found: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for (from, to) in imports.keys().map(|(from, to)| (name(from), name(to))).filter(|(a, b)| a != b) {
        found.entry(from).or_default().insert(to);
    }
    found
}

/// The floors as rows, an arrow for each import that does not follow from others, and a table of all.
fn picture(imports: &Imports, floors: &[&[&str]]) -> String {
    let all = between(imports);
    let none = BTreeSet::new();
    let of = |module: &str| all.get(module).unwrap_or(&none);
    let mut arrows = Vec::new();
    let mut table = String::from("| floor | module | imports |\n| --- | --- | --- |\n");
    let mut rows = String::new();
    for (number, names) in floors.iter().enumerate().rev() {
        // The roots of the crates import everything and nothing.
        let names: Vec<&str> = names.iter().copied().filter(|n| !matches!(*n, "lib" | "main")).collect();
        if names.is_empty() {
            continue;
        }
        let floor = number + 1;
        rows.push_str(&format!("  subgraph floor{floor}[{floor}]\n    direction LR\n"));
        for module in names {
            rows.push_str(&format!("    {module}\n"));
            let below: Vec<String> = of(module).iter().map(|b| format!("`{b}`")).collect();
            let below = if below.is_empty() { "nothing".to_owned() } else { below.join(" ") };
            table.push_str(&format!("| {floor} | `{module}` | {below} |\n"));
            let follows = |to: &str| of(module).iter().any(|via| *via != to && reaches(&all, via, to));
            let direct = of(module).iter().filter(|to| !follows(to));
            arrows.extend(direct.map(|to| format!("  {module} --> {to}\n")));
        }
        rows.push_str("  end\n");
    }
    format!("```mermaid\nflowchart TD\n{rows}{}```\n\n{table}", arrows.concat())
}

fn reaches(all: &BTreeMap<&str, BTreeSet<&str>>, from: &str, to: &str) -> bool {
    all.get(from).is_some_and(|next| next.contains(to) || next.iter().any(|via| reaches(all, via, to)))
}

/// The check itself must see what it is to see.
pub(crate) fn sees() -> Result<(), String> {
    const TWO: &[&[&str]] = &[&["low", "side"], &["high"]];
    type Sources = &'static [(&'static str, &'static str)];
    let cases: &[(Sources, &str)] = &[
        (&[("low.rs", "pub struct A;"), ("side.rs", ""), ("high.rs", "use crate::low::A;")], ""),
        (&[("low.rs", "use crate::high::A;"), ("side.rs", ""), ("high.rs", "")], "high.rs is above it"),
        (
            &[("low.rs", "fn a() { crate::high::a() }"), ("side.rs", ""), ("high.rs", "")],
            "high.rs is above it",
        ),
        (&[("low.rs", "use crate::side::A;"), ("side.rs", ""), ("high.rs", "")], "side.rs is beside it"),
        (
            &[("low.rs", "#[serde(with = \"crate::high::a\")] struct A;"), ("side.rs", ""), ("high.rs", "")],
            "above it",
        ),
        (
            &[
                ("low.rs", "#[cfg(test)] mod tests { use super::super::high::A; }"),
                ("side.rs", ""),
                ("high.rs", ""),
            ],
            "above it",
        ),
        (&[("low.rs", ""), ("side.rs", ""), ("high.rs", ""), ("new/mod.rs", "")], "new: on which floor?"),
        (&[("low.rs", ""), ("high.rs", "")], "side is on a floor and not in src/"),
        // A parent that hands on what a child defines does not import it, and no one who uses it imports the parent.
        (
            &[
                ("low/mod.rs", "mod a; pub use a::A;"),
                ("low/a.rs", ""),
                ("low/b.rs", "use super::A;"),
                ("side.rs", ""),
                ("high.rs", ""),
            ],
            "",
        ),
        (
            &[
                ("low/mod.rs", "mod a; pub use a::A; fn f(_: A) {} pub struct B;"),
                ("low/a.rs", "use super::B;"),
                ("side.rs", ""),
                ("high.rs", ""),
            ],
            "a cycle in low/",
        ),
        (
            &[
                ("low/mod.rs", "mod a; fn f() { a::g() } pub struct B;"),
                ("low/a.rs", "use crate::low::B;"),
                ("side.rs", ""),
                ("high.rs", ""),
            ],
            "a cycle in low/",
        ),
        (
            &[
                ("low/a.rs", "use super::b::B;"),
                ("low/b.rs", "use super::{c as d, c::C}; use d::E;"),
                ("low/c.rs", "use crate::low::a::A;"),
                ("low/mod.rs", ""),
                ("side.rs", ""),
                ("high.rs", ""),
            ],
            "low/a.rs names super::b::B; low/b.rs names super::c::C; low/c.rs names",
        ),
        (
            &[
                ("low/x/a.rs", "use crate::low::y::a::A;"),
                ("low/y/a.rs", ""),
                ("low/y/b.rs", "use crate::low::x::b::B;"),
                ("low/x/b.rs", ""),
                ("low/mod.rs", ""),
                ("low/x/mod.rs", ""),
                ("low/y/mod.rs", ""),
                ("side.rs", ""),
                ("high.rs", ""),
            ],
            "a cycle in low/",
        ),
        (
            &[("low/mod.rs", "pub use crate::high::A;"), ("side.rs", ""), ("high.rs", "")],
            "high.rs is above it",
        ),
        (
            &[
                ("low/mod.rs", "mod a; pub use a::A;"),
                ("low/a.rs", "#[cfg(test)] mod tests { use crate::low::b::B; }"),
                ("low/b.rs", "use super::A;"),
                ("side.rs", ""),
                ("high.rs", ""),
            ],
            "a cycle in low/",
        ),
    ];
    for (files, expected) in cases {
        let mut modules = Modules::default();
        for (path, source) in *files {
            modules.add(path, source);
        }
        let seen = wrong(&modules, TWO).join("\n");
        if expected.is_empty() != seen.is_empty() || !seen.contains(expected) {
            return Err(format!("in {files:?} the check sees {seen:?}, not {expected:?}"));
        }
    }
    Ok(())
}

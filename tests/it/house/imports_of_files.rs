//! Which file of `src/` imports which: every path is followed, through what modules hand on, to the file that
//! defines the item.
//!
//! * `mod child;` and `pub use child::Item` in a parent declare; they are not imports. Everybody who names the item
//!   imports the file that defines it, not the module that hands it on.
//! * Code in a parent that uses an item of a child imports the child's file. A child that uses an item which the
//!   parent's own file defines imports the parent's file. Both at once are a cycle.
//! * Test code counts as any other. Methods are not paths, so an `impl` block may stand in a file of its own.

use crate::house::layers::{Named, named, sources, tokens};
use crate::support::read;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

type Module = Vec<String>;

/// The modules of a crate.
#[derive(Default)]
pub(crate) struct Modules {
    files: BTreeMap<Module, File>,
}

struct File {
    /// Relative to `src/`.
    path: String,
    named: Vec<Named>,
}

/// The roots of crates other than the shell's: they only declare modules, which have the same paths everywhere.
const ROOTS: &[&str] = &[
    "cli/lib.rs",
    "engine/discover/lib.rs",
    "engine/doctor/lib.rs",
    "engine/lib.rs",
    "engine/report/lib.rs",
    "manifest/lib.rs",
    "pod_agent/lib.rs",
];

impl Modules {
    /// All files below a directory of sources.
    pub(crate) fn read(src: &Path) -> Result<Self, String> {
        let mut modules = Self::default();
        for file in sources(src) {
            let path = file.strip_prefix(src).unwrap_or(&file).display().to_string();
            if !ROOTS.contains(&path.as_str()) {
                modules.add(path.strip_prefix("engine/").unwrap_or(&path), &read(&file)?);
            }
        }
        Ok(modules)
    }

    pub(crate) fn add(&mut self, path: &str, source: &str) {
        let stem = path.trim_end_matches(".rs");
        let mut module: Module = stem.split('/').map(str::to_owned).collect();
        if module.last().is_some_and(|m| m == "mod" || m == "lib") {
            module.pop();
        }
        self.files.insert(module, File { path: path.to_owned(), named: named(&tokens(source)) });
    }

    /// The path of every file.
    pub(crate) fn files(&self) -> impl Iterator<Item = &str> {
        self.files.values().map(|f| f.path.as_str())
    }

    /// Every import between two files, with the path that is written.
    pub(crate) fn imports(&self) -> BTreeMap<(String, String), String> {
        let mut found = BTreeMap::new();
        for (module, file) in &self.files {
            for named in &file.named {
                for target in self.targets(module, named) {
                    let Some(target) = self.files.get(&target) else { continue };
                    if target.path != file.path {
                        found
                            .entry((file.path.clone(), target.path.clone()))
                            .or_insert_with(|| named.path.join("::"));
                    }
                }
            }
        }
        found
    }

    /// The modules whose files a path imports.
    fn targets(&self, module: &Module, named: &Named) -> BTreeSet<Module> {
        let scope: Module = module.iter().chain(&named.inside).cloned().collect();
        let mut found = BTreeSet::new();
        if let [word] = named.path.as_slice() {
            // A word alone counts where a `use` brought it and it stands for an item: a type, or what is called.
            let item = named.called || word.starts_with(|c: char| c.is_uppercase());
            let brought = self.brought(&scope, word).next().is_some();
            if named.member || !item || !brought {
                return found;
            }
        }
        self.follow(&scope, &named.path, &mut Vec::new(), &mut found);
        if named.public {
            // What a module hands on of its own children is declared, not imported.
            found.retain(|target| !target.starts_with(module));
        }
        found
    }

    /// The paths of `use` that bring a name into a scope.
    fn brought<'a>(&'a self, scope: &'a [String], name: &'a str) -> impl Iterator<Item = &'a Named> {
        let owner = self.owner(scope);
        let file = self.files.get(owner);
        file.into_iter().flat_map(|f| &f.named).filter(move |n| {
            n.name.as_deref() == Some(name) && Some(n.inside.as_slice()) == scope.get(owner.len()..)
        })
    }

    /// The module of the file that a module is written in.
    fn owner<'a>(&self, module: &'a [String]) -> &'a [String] {
        let known = (0..=module.len()).rev().find(|n| self.files.contains_key(&module[..*n]));
        &module[..known.unwrap_or_default()]
    }

    fn follow(
        &self,
        scope: &[String],
        path: &[String],
        seen: &mut Vec<(Module, String)>,
        found: &mut BTreeSet<Module>,
    ) {
        let Some((first, rest)) = path.split_first() else { return };
        match first.as_str() {
            "crate" | "fabric_admission" | "fabric_admission_cli" | "fabric_admission_manifest" => {
                self.walk(Vec::new(), rest, seen, found)
            }
            "self" => self.walk(scope.to_vec(), rest, seen, found),
            "super" => {
                let mut up = scope.to_vec();
                up.pop();
                let above = rest.iter().take_while(|s| *s == "super").count();
                up.truncate(up.len().saturating_sub(above));
                self.walk(up, &rest[above..], seen, found);
            }
            _ => {
                let known = self.child(scope, first) || self.brought(scope, first).next().is_some();
                if known {
                    self.walk(scope.to_vec(), path, seen, found);
                }
            }
        }
    }

    fn child(&self, module: &[String], name: &str) -> bool {
        let child: Module = module.iter().cloned().chain([name.to_owned()]).collect();
        let owner = self.owner(module);
        let inline = &child[owner.len()..];
        self.files.contains_key(&child)
            || self.files.get(owner).is_some_and(|f| f.named.iter().any(|n| n.inside.starts_with(inline)))
    }

    fn walk(
        &self,
        module: Module,
        path: &[String],
        seen: &mut Vec<(Module, String)>,
        found: &mut BTreeSet<Module>,
    ) {
        // A module that is named imports nothing yet: the paths that go through it do.
        let Some((name, rest)) = path.split_first() else { return };
        if name == "self" {
            return self.walk(module, rest, seen, found);
        }
        let child = self.child(&module, name);
        if child {
            let below = module.iter().cloned().chain([name.clone()]).collect();
            self.walk(below, rest, seen, found);
        }
        if child && !rest.is_empty() {
            return;
        }
        let key = (module.clone(), name.clone());
        if seen.contains(&key) {
            return;
        }
        seen.push(key);
        let brought: Vec<&Named> = self.brought(&module, name).collect();
        for named in &brought {
            let path: Vec<String> = named.path.iter().chain(rest).cloned().collect();
            let mut target = BTreeSet::new();
            self.follow(&module, &path, seen, &mut target);
            found.extend(target);
        }
        if brought.is_empty() && !child {
            found.insert(self.owner(&module).to_vec());
        }
    }
}

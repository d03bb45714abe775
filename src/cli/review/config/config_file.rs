//! One file, with those that it extends.

use super::join_or_refuse_outside_repository::join_or_refuse_outside_repository;
use super::paths_below_others::without_paths_below_others;
use super::which_findings_config_ignores::{IgnoreEntry, Ignores};
use crate::cli::fail_on_flag::FailOn;
use crate::cli::input;
use crate::cli::input::links_in_directories::why_link_of_repository_is_refused;
use crate::cli::review::mode_and_audience::{AudienceArgument, ModeArgument};
use crate::json::decode_with_place;
use crate::manifest::{self, DocumentOrError, Part};
use crate::pod_agent::{LastLink, open_regular_file};
use crate::report::UnreadInput;
use serde::Deserialize;
use std::collections::HashMap;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Name of the file.
pub(super) const NAME: &str = ".fabric-admission.yaml";

/// Files that `extend` one another.
const DEEPEST: usize = 8;

/// Most paths in `cluster` (count).
const MAX_CLUSTER_PATHS: usize = 64;

/// Longest name of a profile (bytes): that of an object of Kubernetes. Each configuration that extends this one has a copy.
const MAX_NAME: usize = 253;

/// Longest file (bytes).
const MAX_BYTES: u64 = 1024 * 1024;

/// The keys, as a file has them.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase", default)]
struct Keys {
    extend: Option<PathBuf>,
    profile: Option<String>,
    profiles: Option<PathBuf>,
    cluster: Option<Vec<PathBuf>>,
    namespace: Option<String>,
    mode: Option<ModeArgument>,
    fail_on: Option<FailOn>,
    audience: Option<AudienceArgument>,
    baseline: Option<PathBuf>,
    ignore: Option<Vec<IgnoreEntry>>,
}

/// Settings of some inputs. Paths start where the command runs.
#[derive(Debug, Clone, Default)]
pub(in crate::cli::review) struct Config {
    pub(in crate::cli::review) inputs: input::InputDefaults,
    pub(in crate::cli::review) mode: Option<ModeArgument>,
    pub(in crate::cli::review) fail_on: Option<FailOn>,
    pub(in crate::cli::review) audience: Option<AudienceArgument>,
    /// A baseline, which is a regular file.
    pub(in crate::cli::review) baseline: Option<PathBuf>,
    pub(in crate::cli::review) ignores: Ignores,
    /// Whether the file itself names other files.
    names_paths: bool,
}

/// Bytes of all configurations of a run. Each takes up to fifteen times as much memory, and a change of others may bring one
/// for each of many directories.
const MAX_BYTES_OF_RUN: usize = 8 << 20;

/// The configurations that were read.
#[derive(Default)]
pub(super) struct ConfigsSoFar {
    /// Those that others extend: many files may extend one.
    extended: HashMap<PathBuf, Config>,
    /// Those that links lead to, if they name no paths, which would start at the directory of each link.
    linked: HashMap<PathBuf, Config>,
    bytes: usize,
}

impl ConfigsSoFar {
    fn add_bytes(&mut self, bytes: usize) -> Result<(), String> {
        self.bytes = self.bytes.saturating_add(bytes);
        if self.bytes > MAX_BYTES_OF_RUN {
            return Err("the configuration files of this run have more than 8 MiB in total. Use one configuration file above, \
                        or let files extend one file"
                .to_owned());
        }
        Ok(())
    }
}

/// The bytes of a regular file. A device or a pipe may never end, and a change of others may bring the file.
fn read(path: &Path) -> io::Result<Vec<u8>> {
    if !std::fs::metadata(path)?.is_file() {
        return Err(io::Error::other("a configuration is a regular file"));
    }
    let mut bytes = Vec::new();
    open_regular_file(path, LastLink::Follow)?.take(MAX_BYTES + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > MAX_BYTES {
        return Err(io::Error::other("a configuration has at most 1 MiB"));
    }
    Ok(bytes)
}

impl Config {
    /// Reads a file that a flag names, and those that it extends. The file may be anywhere, but a change of others may bring a
    /// link at its place.
    pub(super) fn read(path: &Path) -> Result<Self, UnreadInput> {
        if let Some(message) = why_link_of_repository_is_refused(path) {
            let file = path.display().to_string().into();
            return Err(UnreadInput { file, line: 1, column: 1, message });
        }
        Self::read_from(path, &mut ConfigsSoFar::default(), 1)
    }

    /// Reads a file that was found beside or above the inputs.
    pub(super) fn read_found_file(path: &Path, so_far: &mut ConfigsSoFar) -> Result<Self, UnreadInput> {
        let directory = path.parent().unwrap_or(Path::new(""));
        if let Err(message) = join_or_refuse_outside_repository(directory, Path::new(NAME)) {
            let file = path.display().to_string().into();
            return Err(UnreadInput { file, line: 1, column: 1, message });
        }
        // A change of others may bring a link to one long file for each of many directories.
        let Some(target) = path.canonicalize().ok().filter(|_| path.is_symlink()) else {
            return Self::read_from(path, so_far, 1);
        };
        if let Some(known) = so_far.linked.get(&target) {
            return Ok(Self { ignores: known.ignores.for_directory(directory), ..known.clone() });
        }
        let read = Self::read_from(path, so_far, 1)?;
        if !read.names_paths {
            so_far.linked.insert(target, read.clone());
        }
        Ok(read)
    }

    fn read_from(path: &Path, so_far: &mut ConfigsSoFar, depth: usize) -> Result<Self, UnreadInput> {
        let name: Arc<str> = path.display().to_string().into();
        let at =
            |line, column, message: String| UnreadInput { file: Arc::clone(&name), line, column, message };
        let bytes = read(path).map_err(|error| at(1, 1, error.to_string()))?;
        so_far.add_bytes(bytes.len()).map_err(|message| at(1, 1, message))?;
        let mut document = None;
        for item in manifest::read_documents_of_file(&name, &bytes) {
            match item {
                DocumentOrError::Document(first) if document.is_none() => document = Some(first),
                DocumentOrError::Document(more) => {
                    return Err(at(more.line, 1, "a configuration is one document".to_owned()));
                }
                DocumentOrError::Error(error) => return Err(at(error.line, error.column, error.message)),
                DocumentOrError::Empty { .. } => {}
            }
        }
        let Some(document) = document else { return Ok(Self::default()) };
        let problem = |pointer: &str, message: String| {
            let place = document.position_at_or_above_pointer(pointer);
            at(place.line, place.column, message)
        };
        if let Some((pointer, twice)) = document.repeated_keys_in(Part::default(), &(0..0), 1).0.first() {
            return Err(problem(pointer, format!("duplicate key {:?}", twice.key)));
        }
        let keys: Keys = decode_with_place::decode_object(document.json.get())
            .map_err(|e| problem(&e.pointer, e.message))?;
        let directory = path.parent().unwrap_or(Path::new("")).to_path_buf();
        let base = match &keys.extend {
            None => Self::default(),
            Some(_) if depth == DEEPEST => {
                let message =
                    format!("more than {DEEPEST} files extend one another; does one extend itself?");
                return Err(problem("/extend", message));
            }
            Some(other) => {
                let other = join_or_refuse_outside_repository(&directory, other)
                    .map_err(|message| problem("/extend", message))?;
                let whole = other.canonicalize().unwrap_or_else(|_| other.clone());
                match so_far.extended.get(&whole) {
                    Some(known) => known.clone(),
                    None => {
                        let read = Self::read_from(&other, so_far, depth + 1)?;
                        so_far.extended.insert(whole, read.clone());
                        read
                    }
                }
            }
        };
        Self::build(keys, base, &directory).map_err(|(pointer, message)| problem(&pointer, message))
    }

    /// The keys of a file over those of the file that it extends.
    fn build(keys: Keys, base: Self, directory: &Path) -> Result<Self, (String, String)> {
        if let Some(namespace) = &keys.namespace {
            input::parse_namespace(namespace).map_err(|message| ("/namespace".to_owned(), message))?;
        }
        if keys.profile.as_ref().is_some_and(|profile| profile.len() > MAX_NAME) {
            return Err(("/profile".to_owned(), format!("a name has at most {MAX_NAME} bytes")));
        }
        let names_paths = keys.extend.is_some()
            || keys.profiles.is_some()
            || keys.cluster.is_some()
            || keys.baseline.is_some();
        let ignores =
            keys.ignore.map(|entries| Ignores::check_and_take_entries(entries, directory)).transpose()?;
        let here = |pointer: &str, path: PathBuf| {
            join_or_refuse_outside_repository(directory, &path)
                .map_err(|message| (pointer.to_owned(), message))
        };
        let cluster = keys.cluster.map(|paths| {
            if paths.len() > MAX_CLUSTER_PATHS {
                let message =
                    format!("a configuration names at most {MAX_CLUSTER_PATHS} paths; name a directory");
                return Err(("/cluster".to_owned(), message));
            }
            let paths = paths.into_iter().enumerate();
            let paths = paths.map(|(index, path)| here(&format!("/cluster/{index}"), path));
            paths.collect::<Result<Vec<PathBuf>, _>>().map(without_paths_below_others)
        });
        let profiles = keys.profiles.map(|path| here("/profiles", path)).transpose()?;
        let baseline = keys.baseline.map(|path| here("/baseline", path)).transpose()?;
        Ok(Self {
            inputs: input::InputDefaults {
                profile: keys.profile.or(base.inputs.profile),
                profiles: profiles.or(base.inputs.profiles),
                cluster: cluster.transpose()?.unwrap_or(base.inputs.cluster),
                namespace: keys.namespace.or(base.inputs.namespace),
            },
            mode: keys.mode.or(base.mode),
            fail_on: keys.fail_on.or(base.fail_on),
            audience: keys.audience.or(base.audience),
            baseline: baseline.or(base.baseline),
            ignores: ignores.unwrap_or(base.ignores),
            names_paths,
        })
    }
}

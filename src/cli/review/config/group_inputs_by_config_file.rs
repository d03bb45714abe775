//! Inputs by their configuration. The inputs of one configuration are reviewed together: their objects are facts for one
//! another, and for no others.

use super::config_file::{Config, ConfigsSoFar, NAME};
use crate::cli::input::read_files_and_directories;
use crate::report::UnreadInput;
use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};

/// Most configurations of one run (count). Each is held in memory with what it names.
const MAX_CONFIGS: usize = 1_000;

/// Where the configuration comes from.
pub(in crate::cli::review) enum ConfigChoice<'a> {
    /// The nearest file to each input.
    Nearest,
    /// This file, for all inputs.
    File(&'a Path),
    /// Flags only.
    None,
}

/// Inputs with the same configuration.
pub(in crate::cli::review) struct InputsOfOneConfig {
    pub(in crate::cli::review) config: Config,
    pub(in crate::cli::review) paths: Vec<PathBuf>,
}

/// The inputs by their configuration, in the order of the first input of each. `unread`: what cannot be read in directories that
/// have other inputs.
pub(in crate::cli::review) fn group_inputs_by_config(
    paths: &[PathBuf],
    choice: &ConfigChoice<'_>,
    unread: &mut Vec<UnreadInput>,
) -> Result<Vec<InputsOfOneConfig>, UnreadInput> {
    let mut files = Vec::new();
    // Paths without files are for the reader to report; they may be directories.
    let mut empty = HashSet::new();
    for path in paths {
        let (found, problems) = read_files_and_directories::files_of_path_and_unread(path);
        // The reader looks at the path itself again.
        if !found.is_empty() {
            unread.extend(problems);
        }
        if found.is_empty() {
            empty.insert(path);
            files.push(path.clone());
        }
        files.extend(found);
    }
    match choice {
        ConfigChoice::None => return Ok(vec![InputsOfOneConfig { config: Config::default(), paths: files }]),
        ConfigChoice::File(file) => {
            return Ok(vec![InputsOfOneConfig { config: Config::read(file)?, paths: files }]);
        }
        ConfigChoice::Nearest => {}
    }
    let mut so_far = ConfigsSoFar::default();
    let mut nearest = Nearest::default();
    let mut numbers: HashMap<Option<PathBuf>, usize> = HashMap::new();
    let mut groups: Vec<InputsOfOneConfig> = Vec::new();
    for file in files {
        let is_directory = empty.contains(&file) && file.is_dir();
        let directory = if is_directory { file.as_path() } else { file.parent().unwrap_or(Path::new("")) };
        let found = nearest.find(directory);
        let number = match numbers.get(&found) {
            Some(number) => *number,
            None => {
                if groups.len() == MAX_CONFIGS {
                    let first = file.display().to_string().into();
                    let message = format!(
                        "the inputs of this run have more than {MAX_CONFIGS} configuration files; this input is the first one of \
                         the next file. Use one configuration file above, or review fewer directories at once"
                    );
                    return Err(UnreadInput { file: first, line: 1, column: 1, message });
                }
                let config =
                    found.as_deref().map(|file| Config::read_found_file(file, &mut so_far)).transpose()?;
                let config = config.unwrap_or_default();
                groups.push(InputsOfOneConfig { config, paths: Vec::new() });
                numbers.insert(found, groups.len() - 1);
                groups.len() - 1
            }
        };
        if let Some(group) = groups.get_mut(number) {
            group.paths.push(file);
        }
    }
    Ok(groups)
}

/// The nearest configuration of directories; each is looked at once.
#[derive(Default)]
struct Nearest {
    known: HashMap<PathBuf, Option<PathBuf>>,
}

impl Nearest {
    /// The file in the directory or in one above it, as the command line would name it.
    fn find(&mut self, given: &Path) -> Option<PathBuf> {
        if let Some(found) = self.known.get(given) {
            return found.clone();
        }
        let own = given.join(NAME);
        let found = if own.is_file() {
            Some(own)
        } else {
            match given.parent() {
                Some(above) if !ends_upward(given) => self.find(above),
                // The end of a relative path: the rest is above the working directory.
                _ => self.above(given),
            }
        };
        self.known.insert(given.to_path_buf(), found.clone());
        found
    }

    fn above(&self, given: &Path) -> Option<PathBuf> {
        let whole = given.join(".").canonicalize().ok()?;
        whole.ancestors().skip(1).map(|directory| directory.join(NAME)).find(|file| file.is_file())
    }
}

/// Whether the parent of a path by its text is not the directory above it.
fn ends_upward(path: &Path) -> bool {
    path.as_os_str().is_empty() || path.ends_with("..") || path == Path::new("/")
}

//! A limit for the files that configurations name. Each configuration reads them again: a change of others may bring a short
//! configuration for each of many directories, and all may name one long file.

use super::arguments::Arguments;
use super::config::InputsOfOneConfig;
use crate::cli::input::read_files_and_directories::files_of_path_and_number_looked_at;
use std::collections::HashMap;
use std::path::{Path, PathBuf};

/// Bytes of the files that the configurations of one run name, beside the longest ones of one configuration. Reading this
/// much takes about 4 s. The same limit for their baselines, which all stay in memory.
pub(super) const MAX_BYTES: u64 = 32 << 20;

/// Files and directories in the paths of all configurations, beside those in the path with most of them (count). To look at one takes
/// up to half a millisecond: it may be deep, and hidden.
const MAX_LOOKED_AT: u64 = 8_192;

/// What a directory counts for at least (count): hidden files in it are read to find out whether they are manifests.
const LEAST_LOOKED_AT: u64 = 32;

/// Most configurations that name profiles or facts (count). Each is held in memory with what it names.
const MAX_CONFIGS_WITH_FILES: usize = 64;

/// The configurations of a run so far, and what they have named.
#[derive(Debug, Default)]
pub(super) struct BytesNamedByConfigs {
    with_files: usize,
    /// Bytes, and files and directories (count), by the path.
    known: HashMap<PathBuf, (u64, u64)>,
    looked_at: SumAndLargest,
    files: SumAndLargest,
    documents: SumAndLargest,
}

impl BytesNamedByConfigs {
    /// Adds the files of one more configuration. A flag replaces what the configuration names.
    pub(super) fn add_or_refuse(
        &mut self,
        arguments: &Arguments,
        group: &InputsOfOneConfig,
    ) -> Result<(), String> {
        let inputs = &group.config.inputs;
        let profiles = inputs.profiles.iter().filter(|_| arguments.input.profiles().is_none());
        let cluster = inputs.cluster.iter().filter(|_| arguments.input.cluster().is_empty());
        let named: Vec<_> = profiles.chain(cluster).collect();
        self.with_files += usize::from(!named.is_empty());
        let first = || group.paths.first().map(|path| path.display().to_string()).unwrap_or_default();
        if self.with_files > MAX_CONFIGS_WITH_FILES {
            return Err(format!(
                "the inputs of this run have more than {MAX_CONFIGS_WITH_FILES} configuration files with profiles or cluster; the \
                 first input of the next one is {}. Use one configuration file above, or review fewer directories at once",
                first()
            ));
        }
        let mut length = 0_u64;
        for path in named {
            length = length.saturating_add(self.bytes_of_path_or_refuse(path)?);
        }
        self.files.add_or_refuse(length, MAX_BYTES, || too_many_bytes(&first()))
    }

    /// Adds what the documents of these files were when they were read: YAML aliases make a long document of few bytes.
    pub(super) fn add_documents_or_refuse(
        &mut self,
        length: usize,
        first: impl Fn() -> String,
    ) -> Result<(), String> {
        self.documents.add_or_refuse(length as u64, MAX_BYTES, || too_many_bytes(&first()))
    }

    /// Bytes of the files of a path. Each path is looked at once.
    fn bytes_of_path_or_refuse(&mut self, path: &Path) -> Result<u64, String> {
        let whole = path.canonicalize().unwrap_or_else(|_| path.to_path_buf());
        let (bytes, looked_at) = *self.known.entry(whole).or_insert_with(|| {
            let (files, looked_at) = files_of_path_and_number_looked_at(path);
            let bytes = files.iter().map(|file| std::fs::metadata(file).map_or(0, |about| about.len())).sum();
            let least = if path.is_dir() { LEAST_LOOKED_AT } else { 1 };
            (bytes, least.max(looked_at as u64))
        });
        self.looked_at.add_or_refuse(looked_at, MAX_LOOKED_AT, || {
            format!(
                "the configuration files of this run name directories with more than {MAX_LOOKED_AT} files and directories in \
                 total in profiles and cluster; {} exceeds this limit. Name fewer directories, or name them with the flags \
                 --profiles and --cluster",
                path.display()
            )
        })?;
        Ok(bytes)
    }
}

/// `first`: the first input of the configuration.
fn too_many_bytes(first: &str) -> String {
    format!(
        "the configuration files of this run name files of more than 32 MiB in total in profiles and cluster; the first input \
         of the configuration that exceeds this limit is {first}. Name shared files in one configuration file above, or with \
         the flags --profiles and --cluster"
    )
}

/// The sum of some numbers, and the largest one.
#[derive(Debug, Default)]
pub(super) struct SumAndLargest {
    all: u64,
    of_one: u64,
}

impl SumAndLargest {
    /// Adds a number. It is refused if all numbers but the largest one are then more than `most`.
    pub(super) fn add_or_refuse(
        &mut self,
        number: u64,
        most: u64,
        why: impl Fn() -> String,
    ) -> Result<(), String> {
        self.all = self.all.saturating_add(number);
        self.of_one = self.of_one.max(number);
        if self.all - self.of_one > most { Err(why()) } else { Ok(()) }
    }
}

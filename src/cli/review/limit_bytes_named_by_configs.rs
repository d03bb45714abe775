//! A limit for the files that configurations name. Each configuration reads them again: a change of others may bring a short
//! configuration for each of many directories, and all may name one long file.

use super::arguments::Arguments;
use super::config::InputsOfOneConfig;
use crate::cli::input::read_files_and_directories::files_of_path;

/// Bytes of the files that the configurations of one run name, beside the longest ones of one configuration. Reading this
/// much takes about 4 s.
const MAX_BYTES: u64 = 32 << 20;

/// What a file counts for at least (bytes): an empty one is listed and opened as well.
const MIN_BYTES_OF_FILE: u64 = 1 << 10;

/// Most configurations that name profiles or facts (count). Each is held in memory with what it names.
const MAX_CONFIGS_WITH_FILES: usize = 64;

/// The configurations of a run so far, and the bytes that they have named.
#[derive(Debug, Default)]
pub(super) struct BytesNamedByConfigs {
    with_files: usize,
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
        let files = named.into_iter().flat_map(|path| files_of_path(path));
        let length = files
            .map(|file| std::fs::metadata(file).map_or(0, |about| about.len()).max(MIN_BYTES_OF_FILE))
            .sum::<u64>();
        self.files.add_or_refuse(length, first)
    }

    /// Adds what the documents of these files were when they were read: YAML aliases make a long document of few bytes.
    pub(super) fn add_documents_or_refuse(
        &mut self,
        length: usize,
        first: impl Fn() -> String,
    ) -> Result<(), String> {
        self.documents.add_or_refuse(length as u64, first)
    }
}

/// The sum of some lengths, and the largest one (bytes).
#[derive(Debug, Default)]
struct SumAndLargest {
    all: u64,
    of_one: u64,
}

impl SumAndLargest {
    fn add_or_refuse(&mut self, length: u64, first: impl Fn() -> String) -> Result<(), String> {
        self.all = self.all.saturating_add(length);
        self.of_one = self.of_one.max(length);
        if self.all - self.of_one > MAX_BYTES {
            return Err(format!(
                "the configuration files of this run name files of more than 32 MiB in total in profiles and cluster; \
                 the first input of the configuration that exceeds this limit is {}. Name shared files in one \
                 configuration file above, or with the flags --profiles and --cluster",
                first()
            ));
        }
        Ok(())
    }
}

//! A limit for the files that configurations name. Each configuration reads them again: a change of others may bring a short
//! configuration for each of many directories, and all may name one long file.

use super::arguments::Arguments;
use super::config::InputsOfOneConfig;
use crate::cli::input::read_files_and_directories::files_of_path;

/// Bytes of the files that the configurations of one run name, beside the longest ones of one configuration. Reading this
/// much takes about 4 s.
const MAX_BYTES: u64 = 32 << 20;

/// Most configurations of one run, and most of them that name profiles or facts (count). Each is held in memory with what it names.
const MAX_CONFIGS: usize = 1_000;
const MAX_CONFIGS_WITH_FILES: usize = 64;

/// The configurations of a run so far, and the bytes that they have named.
#[derive(Debug, Default)]
pub(super) struct BytesNamedByConfigs {
    configs: usize,
    with_files: usize,
    all: u64,
    of_one: u64,
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
        self.configs += 1;
        self.with_files += usize::from(!named.is_empty());
        let first = || group.paths.first().map(|path| path.display().to_string()).unwrap_or_default();
        for (number, most, what) in [
            (self.configs, MAX_CONFIGS, "configuration files"),
            (self.with_files, MAX_CONFIGS_WITH_FILES, "configuration files with profiles or cluster"),
        ] {
            if number > most {
                return Err(format!(
                    "the inputs of this run have more than {most} {what}; the first input of the next one is {}. Use one \
                     configuration file above, or review fewer directories at once",
                    first()
                ));
            }
        }
        let files = named.into_iter().flat_map(|path| files_of_path(path));
        let length = files.map(|file| std::fs::metadata(file).map_or(0, |about| about.len())).sum::<u64>();
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

//! Profiles and facts that several configurations name. A change of others may bring a configuration for each of many
//! directories, and all may name the same files: each set of files is read and its Snapshot built once. Inputs with facts of
//! their own, and different sets, take work that has a limit.

use super::Arguments;
use super::config::InputsOfOneConfig;
use crate::cli::Exit;
use crate::cli::input::{self, InputFlags, InputsAndSnapshot, SharedFacts};
use crate::decision_limits::RunBudget;
use std::collections::{BTreeSet, HashMap};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// What the Snapshot before any input depends on: files, the namespace of objects without one, and whose objects count.
#[derive(Clone, PartialEq, Eq, Hash)]
struct FactSet {
    profiles: Option<PathBuf>,
    cluster: Vec<PathBuf>,
    namespace: Option<String>,
    for_audience: bool,
}

impl FactSet {
    fn of(arguments: &Arguments, group: &InputsOfOneConfig) -> Self {
        let inputs = arguments.input.with_paths_and_defaults(Vec::new(), group.config.inputs.clone());
        let whole = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_path_buf());
        Self {
            profiles: inputs.profiles().map(whole),
            cluster: inputs.cluster().iter().map(|path| whole(path)).collect(),
            namespace: inputs.namespace().map(str::to_owned),
            for_audience: arguments.audience.or(group.config.audience).is_some(),
        }
    }
}

/// The sets of one run.
pub(super) struct FactsSharedByConfigs {
    /// The set of each configuration, in order, and how many configurations have it.
    sets: Vec<FactSet>,
    uses: HashMap<FactSet, usize>,
    shared: HashMap<FactSet, SharedFacts>,
    next: usize,
    work: RunBudget,
    /// The longest files of one configuration (bytes), for which the run may take more work.
    longest: usize,
}

impl FactsSharedByConfigs {
    pub(super) fn new(arguments: &Arguments, groups: &[InputsOfOneConfig]) -> Self {
        let sets: Vec<FactSet> = groups.iter().map(|group| FactSet::of(arguments, group)).collect();
        let mut uses = HashMap::new();
        for set in &sets {
            *uses.entry(set.clone()).or_default() += 1;
        }
        Self { sets, uses, shared: HashMap::new(), next: 0, work: RunBudget::default(), longest: 0 }
    }

    /// Why the inputs of the next configuration are not read, if the ones before have taken all work.
    pub(super) fn why_no_more(&self, first: &str) -> Option<String> {
        self.work.is_spent().then(|| {
            format!(
                "the configuration files of this run name profiles and objects of the cluster that cause far more work than their \
                 size explains; the first input that is not reviewed is {first}. Name shared files in one configuration file above, \
                 or review fewer directories at once"
            )
        })
    }

    /// Reads the inputs of the next configuration.
    pub(super) fn read_next(
        &mut self,
        inputs: &InputFlags,
        operators: Option<BTreeSet<String>>,
        err: &mut dyn Write,
    ) -> io::Result<Result<InputsAndSnapshot, Exit>> {
        let set = self.sets.get(self.next);
        self.next += 1;
        let set = set.filter(|set| !inputs.is_live() && self.uses.get(set).is_some_and(|uses| *uses > 1));
        if let Some(shared) = set.and_then(|set| self.shared.get(set)) {
            let prepared = input::read_inputs_and_live_cluster(inputs, shared.for_input(), err)?;
            if let Ok(prepared) = &prepared {
                shared.spend_work_of_input(prepared, &self.work);
            }
            return Ok(prepared);
        }
        let mut given = match input::read_profiles_and_fact_files(inputs, operators, err)? {
            Ok(given) => given,
            Err(exit) => return Ok(Err(exit)),
        };
        if let Some(set) = set {
            self.shared.insert(set.clone(), given.for_many_inputs(&RunBudget::default()));
        }
        let prepared = input::read_inputs_and_live_cluster(inputs, given, err)?;
        if let Ok(prepared) = &prepared {
            let length = prepared.bytes_of_fact_documents;
            self.work.add_input(length.saturating_sub(self.longest));
            self.longest = self.longest.max(length);
            self.work.spend(prepared.work_of_own_snapshot());
        }
        Ok(prepared)
    }
}

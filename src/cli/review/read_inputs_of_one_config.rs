//! What counts where a flag and the configuration file both say something: the flag.

use super::arguments::Arguments;
use super::config::InputsOfOneConfig;
use super::facts_shared_by_configs::FactsSharedByConfigs;
use super::mode_and_audience::{AudienceArgument, ModeArgument};
use super::new_since_baseline::{BaselineNumber, Baselines};
use super::options_of_all_decisions::ReviewOptions;
use crate::cli::fail_on_flag::FailOn;
use crate::cli::{Exit, input};
use crate::decision_limits::RunBudget;
use std::io::{self, Write};
use std::sync::Arc;

/// The inputs of one configuration, ready to be reviewed.
pub(super) struct ReviewOfOneConfig {
    pub(super) prepared: input::InputsAndSnapshot,
    pub(super) setting: ReviewOptions,
    pub(super) fail_on: FailOn,
    pub(super) baseline: Option<BaselineNumber>,
}

/// Reads the baseline of some inputs. The first baseline is written where a configuration names it.
pub(super) fn read_baseline_of_group(
    arguments: &Arguments,
    group: &InputsOfOneConfig,
    baselines: &mut Baselines,
) -> Result<Option<BaselineNumber>, String> {
    let path = match (&arguments.baseline, &group.config.baseline) {
        (Some(path), _) => path,
        (None, Some(path)) if arguments.write_baseline.is_some() && !path.exists() => return Ok(None),
        // A device or a pipe may never end, and a change of others may bring the configuration.
        (None, Some(path)) if path.exists() && !path.is_file() => {
            return Err(format!("{}: a baseline in a configuration is a regular file", path.display()));
        }
        (None, Some(path)) => path,
        (None, None) => return Ok(None),
    };
    baselines.read_once(path).map(Some)
}

/// Reads inputs. Flags count more than their configuration.
pub(super) fn read_inputs_with_config(
    arguments: &Arguments,
    group: InputsOfOneConfig,
    baseline: Option<BaselineNumber>,
    (shared, work): (&mut FactsSharedByConfigs, &Arc<RunBudget>),
    err: &mut dyn Write,
) -> io::Result<Result<ReviewOfOneConfig, Exit>> {
    let InputsOfOneConfig { config, paths } = group;
    let audience = arguments.audience.or(config.audience);
    let operators = audience.map(|_| arguments.operator_namespaces.iter().cloned().collect());
    let inputs = arguments.input.with_paths_and_defaults(paths, config.inputs);
    let mut prepared = match shared.read_next(&inputs, operators, err)? {
        Ok(prepared) => prepared,
        Err(exit) => return Ok(Err(exit)),
    };
    let setting = ReviewOptions {
        namespace: std::mem::take(&mut prepared.namespace),
        mode: arguments.mode.or(config.mode).map(ModeArgument::mode),
        profile: prepared.profile.take(),
        audience: audience.map(AudienceArgument::audience),
        ignores: config.ignores,
        why: false,
        work: Arc::clone(work),
        estimate: arguments.estimate,
    };
    let fail_on = arguments.fail_on.or(config.fail_on).unwrap_or(FailOn::DEFAULT);
    Ok(Ok(ReviewOfOneConfig { prepared, setting, fail_on, baseline }))
}

//! Checks of the lengths of a profile's lists and maps, before anything is done with their entries.
//!
//! A profile may come from a request or a file, where no CRD has checked it. The checks that follow expand counts and
//! compare entries with each other, so their work is bounded by these numbers. They are the CRD's `maxItems` and
//! `maxProperties`; a test compares both.

use crate::profile::profile_error::{Fail, ProfileError};
use crate::profile::schema::{LabelSelector, Spec};

/// Most values in all expressions of a selector. 64 expressions of 256 values would take 2 MB, and each of hundreds of
/// profiles has three selectors.
const MAX_VALUES: usize = 1_024;

/// Checks the length of every list and map of the profile itself; a base is within the limits.
///
/// # Errors
/// [`ProfileError`] names the first list that is too long, its length and the limit.
pub(in crate::profile) fn check(spec: &Spec, fail: &Fail<'_>) -> Result<(), ProfileError> {
    let length = |pointer: &str, length: usize, most: usize| {
        if length <= most {
            return Ok(());
        }
        Err(fail(pointer, format!("{length} entries; expected at most {most}")))
    };
    let list = |pointer: &str, list: Option<usize>, most: usize| length(pointer, list.unwrap_or(0), most);
    list("/spec/instanceTypes", spec.instance_types.as_ref().map(Vec::len), 64)?;
    list("/spec/rails", spec.rails.as_ref().map(Vec::len), 64)?;
    list("/spec/subsets", spec.subsets.as_ref().map(Vec::len), 64)?;
    for (i, subset) in spec.subsets.iter().flatten().enumerate() {
        length(&format!("/spec/subsets/{i}/interfaces"), subset.interfaces.len(), 64)?;
    }
    list("/spec/resources", spec.resources.as_ref().map(Vec::len), 32)?;
    list("/spec/env", spec.env.as_ref().map(Vec::len), 128)?;
    list("/spec/preflight/checks", spec.preflight.as_ref().map(|p| p.checks.len()), 64)?;
    list("/spec/preflight/peers", spec.preflight.as_ref().map(|p| p.peers.len()), 16)?;
    list("/spec/files", spec.files.as_ref().map(Vec::len), 8)?;
    list("/spec/gkeNetworks/interfaces", spec.gke_networks.as_ref().map(|g| g.interfaces.len()), 32)?;
    let selectors = [
        ("/spec/nodeSelector", spec.node_selector.as_ref()),
        ("/spec/namespaces", spec.namespaces.as_ref()),
        ("/spec/when/podSelector", spec.when.as_ref().and_then(|when| when.pod_selector.as_ref())),
    ];
    for (pointer, selector) in selectors {
        let Some(LabelSelector { match_labels, match_expressions }) = selector else { continue };
        length(&format!("{pointer}/matchLabels"), match_labels.len(), 64)?;
        length(&format!("{pointer}/matchExpressions"), match_expressions.len(), 64)?;
        for (i, expression) in match_expressions.iter().enumerate() {
            length(&format!("{pointer}/matchExpressions/{i}/values"), expression.values.len(), 256)?;
        }
        let values: usize = match_expressions.iter().map(|expression| expression.values.len()).sum();
        if values > MAX_VALUES {
            let message =
                format!("{values} values in total; expected at most {MAX_VALUES} in all expressions");
            return Err(fail(&format!("{pointer}/matchExpressions"), message));
        }
    }
    Ok(())
}

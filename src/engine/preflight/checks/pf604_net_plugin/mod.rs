//! PF604: the network plugin of NCCL.

use crate::preflight::check_declaration::{Check, Context, listed};
use crate::preflight::check_outcome::{PreflightCheckOutcome, WhoCanFix};
use crate::preflight::expectation_document::Transport;
use crate::rdma::Unreadable;

pub(super) static CHECK: Check = Check { id: "PF604", page: include_str!("page.md"), rdma_only: true, judge };

fn judge(context: &Context<'_>) -> PreflightCheckOutcome {
    match context.effective_setting("NCCL_NET_PLUGIN") {
        Ok(set) => plugin(context, set),
        Err(unknown) => unknown,
    }
}

fn plugin(context: &Context<'_>, set: Option<(String, &str)>) -> PreflightCheckOutcome {
    let efa = context.transport() == Some(Transport::Efa);
    if set.is_none() && !efa {
        return PreflightCheckOutcome::off("NCCL_NET_PLUGIN is not set, and the transport needs no plugin");
    }
    if set.as_ref().is_some_and(|(value, _)| value == "none") {
        return PreflightCheckOutcome::off("NCCL_NET_PLUGIN=none");
    }
    let fix = if efa {
        "Install aws-ofi-nccl in the image (the EFA installer has it)."
    } else {
        "Install the plugin in the image, or remove NCCL_NET_PLUGIN."
    };
    let who = set.map_or_else(
        || "transport efa needs a plugin".to_owned(),
        |(value, place)| format!("NCCL_NET_PLUGIN={value} ({place})"),
    );
    let plugins = &context.seen.image.plugins;
    if let Some(library) = plugins.values().find_map(|plugin| plugin.as_ref().ok()) {
        if !library.fits {
            return PreflightCheckOutcome::fail(
                WhoCanFix::Configuration,
                format!("{} is for another architecture", library.path),
                fix,
            );
        }
        if !library.missing.is_empty() {
            return PreflightCheckOutcome::fail(
                WhoCanFix::Configuration,
                format!("{} needs {}, which the image does not have", library.path, listed(&library.missing)),
                fix,
            );
        }
        return PreflightCheckOutcome::pass(library.path.clone());
    }
    let names: Vec<&str> = plugins.keys().map(String::as_str).collect();
    match plugins.values().find_map(|plugin| plugin.as_ref().err().filter(|why| **why != Unreadable::Missing))
    {
        Some(why) => PreflightCheckOutcome::unknown(format!("{}: {why}", listed(&names))),
        None if names.is_empty() => PreflightCheckOutcome::unknown("preflight did not search for the plugin"),
        None if efa => PreflightCheckOutcome::fail(
            WhoCanFix::Configuration,
            format!("{who}, but the image has no {}: NCCL uses TCP over sockets", listed(&names)),
            fix,
        ),
        None => PreflightCheckOutcome::warn(
            WhoCanFix::Configuration,
            format!("{who}, but the image has no {}: NCCL uses its own transport", listed(&names)),
            fix,
        ),
    }
}

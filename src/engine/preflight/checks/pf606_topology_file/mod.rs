//! PF606: the file that `NCCL_TOPO_FILE` names.

use crate::preflight::check_declaration::{Check, Context, either_outcome};
use crate::preflight::check_outcome::{PreflightCheckOutcome, WhoCanFix};
use crate::rdma::Unreadable;

pub(super) static CHECK: Check =
    Check { id: "PF606", page: include_str!("page.md"), rdma_only: false, judge };

fn judge(context: &Context<'_>) -> PreflightCheckOutcome {
    either_outcome(topology(context))
}

fn topology(context: &Context<'_>) -> Result<PreflightCheckOutcome, PreflightCheckOutcome> {
    let Some((file, place)) = context.effective_setting("NCCL_TOPO_FILE")? else {
        return Ok(PreflightCheckOutcome::off("NCCL_TOPO_FILE is not set"));
    };
    let setting = format!("NCCL_TOPO_FILE={file} ({place})");
    let Some(found) = &context.seen.topology else {
        return Err(PreflightCheckOutcome::unknown(format!(
            "{setting}: preflight did not look for the file"
        )));
    };
    let warn = |what: String| {
        PreflightCheckOutcome::warn(
            WhoCanFix::Configuration,
            format!("{setting} {what}: NCCL uses the topology that it detects"),
            "Mount the file, or add it to the image; or remove NCCL_TOPO_FILE.",
        )
    };
    match found {
        Ok(0) => Ok(warn("is empty".to_owned())),
        Ok(_) => Ok(PreflightCheckOutcome::pass(format!("{setting} can be read"))),
        Err(why @ (Unreadable::Missing | Unreadable::Denied | Unreadable::NotAFile)) => {
            Ok(warn(why.to_string()))
        }
        Err(why) => Err(PreflightCheckOutcome::unknown(format!("{setting}: {why}"))),
    }
}

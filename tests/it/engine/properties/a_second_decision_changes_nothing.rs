//! After its own patch, the webhook finds the same and patches nothing.

use crate::support::generated_world::World;
use fabric_admission::review::Stage;
use fabric_admission::rules::Finding;

pub(super) fn converges(world: &World) -> Result<(), String> {
    let (Some(first), patched) = (world.decide(), world.patched()?) else { return Ok(()) };
    if first.patch.is_empty() {
        return Ok(());
    }
    let unreadable = "the patched pod cannot be read";
    let second = world.decide_on(&patched).ok_or(unreadable)?;
    if !second.patch.is_empty() {
        return Err(format!("patched again: {:#?}", second.patch));
    }
    // What validates the final pod finds the same, and sees that it was patched.
    let last = world.decide_as(&patched, Stage::Final, world.mode).ok_or(unreadable)?;
    if last.findings != second.findings {
        return Err(format!("at last {:#?}, not {:#?}", last.findings, second.findings));
    }
    // What the plan adds has no place of its own in the first pod; its finding names the list instead.
    let same = |a: &Finding, b: &Finding| {
        let path = b.path == a.path || b.path.starts_with(&format!("{}/", a.path));
        path && (a.rule, a.severity, &a.message, &a.fix) == (b.rule, b.severity, &b.message, &b.fix)
    };
    let (before, after) = (&first.findings, &second.findings);
    let alike = before.len() == after.len() && before.iter().zip(after).all(|(a, b)| same(a, b));
    if !alike || first.profile != second.profile {
        return Err(format!("findings before {before:#?} and after {after:#?}"));
    }
    Ok(())
}

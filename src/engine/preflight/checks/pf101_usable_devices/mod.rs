//! PF101: RDMA devices that programs of this container can open.

use crate::preflight::check_declaration::{Check, Context, either_outcome, listed, value_or_outcome};
use crate::preflight::check_outcome::{PreflightCheckOutcome, WhoCanFix};
use crate::text::count_with_noun;

pub(super) static CHECK: Check = Check { id: "PF101", page: include_str!("page.md"), rdma_only: true, judge };

fn judge(context: &Context<'_>) -> PreflightCheckOutcome {
    either_outcome(usable(context))
}

fn usable(context: &Context<'_>) -> Result<PreflightCheckOutcome, PreflightCheckOutcome> {
    let usable = context.usable()?;
    let names: Vec<&str> = usable.iter().map(|device| device.name.as_str()).collect();
    let found = format!("{} ({})", count_with_noun(names.len(), "usable RDMA device"), listed(&names));
    match context.expected.devices {
        Some(0) => Ok(PreflightCheckOutcome::off("the profile expects no RDMA device")),
        Some(wanted) if wanted as usize == names.len() => Ok(PreflightCheckOutcome::pass(found)),
        Some(wanted) if (wanted as usize) < names.len() => Ok(PreflightCheckOutcome::warn(
            WhoCanFix::Configuration,
            format!("{found}, but the profile expects {wanted}: NCCL may use devices of other networks"),
            "Run the container without privileged and without a hostPath of /dev/infiniband, or list the devices in NCCL_IB_HCA.",
        )),
        Some(wanted) => few(context, &names, &format!("but the profile expects {wanted}")),
        None if names.is_empty() => few(context, &names, "but the transport needs at least one"),
        None => Ok(PreflightCheckOutcome::pass(found)),
    }
}

/// Fewer devices than the pod needs, and why.
fn few(
    context: &Context<'_>,
    usable: &[&str],
    needs: &str,
) -> Result<PreflightCheckOutcome, PreflightCheckOutcome> {
    let all = value_or_outcome(&context.seen.devices, "/sys/class/infiniband")?;
    let nodes = value_or_outcome(&context.seen.nodes, "/sys/class/infiniband_verbs")?;
    let has = if usable.is_empty() {
        "no usable RDMA device".to_owned()
    } else {
        format!("{} ({})", count_with_noun(usable.len(), "usable RDMA device"), listed(usable))
    };
    // The file exists, and still the kernel refuses: the device cgroup lacks it.
    let denied: Vec<String> = nodes
        .iter()
        .filter_map(|node| match &node.opens {
            Err(why) if *why != crate::rdma::Unreadable::Missing => {
                Some(format!("/dev/infiniband/{}: {why}", node.name))
            }
            _ => None,
        })
        .collect();
    if !denied.is_empty() {
        return Ok(PreflightCheckOutcome::fail(
            WhoCanFix::Configuration,
            format!("{has}, {needs}; {}", listed(&denied)),
            "Request the RDMA resource in this container. A hostPath mount of /dev/infiniband gives no permission.",
        ));
    }
    let files = context.seen.device_files.as_deref().unwrap_or_default();
    if files.len() > nodes.len() {
        return Ok(PreflightCheckOutcome::fail(
            WhoCanFix::Node,
            format!(
                "{has}, {needs}; /dev/infiniband has {}, but the kernel shows {} in this network namespace",
                count_with_noun(files.len(), "device file"),
                count_with_noun(nodes.len(), "device")
            ),
            "In exclusive RDMA mode, add the rdma CNI plugin to the network, after sriov. The plugin moves the RDMA device into the pod.",
        ));
    }
    let unusable: Vec<&str> =
        all.iter().map(|device| device.name.as_str()).filter(|name| !usable.contains(name)).collect();
    if unusable.is_empty() {
        return Ok(PreflightCheckOutcome::fail(
            WhoCanFix::Node,
            format!("{has}, {needs}; the kernel shows no other device in this network namespace"),
            "Check that the node's RDMA driver is loaded, and that the pod requests the RDMA resource.",
        ));
    }
    Ok(PreflightCheckOutcome::fail(
        WhoCanFix::Configuration,
        format!(
            "{has}, {needs}; the kernel also shows {}, but /dev/infiniband has no device file for these devices",
            listed(&unusable)
        ),
        "In this container, request as many units of the RDMA resource as the profile has rails.",
    ))
}

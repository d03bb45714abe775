//! PF403: distance between GPUs and NICs.

use crate::preflight::check_declaration::{Check, Context, either_outcome, listed, value_or_outcome};
use crate::preflight::check_outcome::{PreflightCheckOutcome, WhoCanFix};
use crate::preflight::pci_distance::Distance;
use crate::text::count_with_noun;

pub(super) static CHECK: Check = Check { id: "PF403", page: include_str!("page.md"), rdma_only: true, judge };

fn judge(context: &Context<'_>) -> PreflightCheckOutcome {
    either_outcome(distances(context))
}

fn distances(context: &Context<'_>) -> Result<PreflightCheckOutcome, PreflightCheckOutcome> {
    let gpus = value_or_outcome(&context.seen.gpu.devices, "/dev")?;
    let usable = context.usable()?;
    if gpus.is_empty() || usable.is_empty() {
        return Err(PreflightCheckOutcome::unknown("this check needs a GPU and a usable RDMA device"));
    }
    if let Some(file) = context.effective_setting("NCCL_TOPO_FILE")?.map(|(file, _)| file) {
        return Ok(PreflightCheckOutcome::unknown(format!(
            "NCCL_TOPO_FILE={file} replaces the topology in sysfs"
        )));
    }
    let mut nics = Vec::new();
    for device in usable {
        nics.push(value_or_outcome(
            &device.pci_path,
            &format!("/sys/class/infiniband/{}/device", device.name),
        )?);
    }
    let mut far = Vec::new();
    let mut flat = true;
    for (minor, address) in gpus {
        let address = value_or_outcome(address, &format!("PCI address of nvidia{minor}"))?;
        let path = context.seen.gpu.pci_paths.get(address);
        let path =
            path.ok_or_else(|| PreflightCheckOutcome::unknown(format!("{address} is not in sysfs")))?;
        let path = value_or_outcome(path, &format!("/sys/bus/pci/devices/{address}"))?;
        let nearest = nics.iter().map(|nic| Distance::between_pci_paths(path, nic)).min();
        flat &= nics.iter().all(|nic| Distance::is_flat(path, nic));
        match nearest {
            Some(distance) if distance > Distance::SwitchTree => {
                far.push(format!("nvidia{minor} ({address}, distance {})", distance.word()));
            }
            _ => {}
        }
    }
    if flat {
        return Ok(PreflightCheckOutcome::unknown("no PCI bridges are visible, as in a virtual machine"));
    }
    if far.is_empty() {
        return Ok(PreflightCheckOutcome::pass(format!(
            "{} with a NIC below the same PCIe switches",
            count_with_noun(gpus.len(), "GPU")
        )));
    }
    Ok(PreflightCheckOutcome::warn(
        WhoCanFix::Configuration,
        format!(
            "no NIC is near {}: by default, NCCL does not use GPUDirect RDMA without a near NIC",
            listed(&far)
        ),
        "Request all GPUs and NICs of the node, or let the Topology Manager (policy restricted or single-numa-node) align them.",
    ))
}

//! PF601: `NCCL_IB_HCA` against the devices.

use crate::nccl::list::NameList;
use crate::preflight::check::{Check, Context, either, listed};
use crate::preflight::outcome::{Fault, Outcome};
use crate::text::count;

pub(super) static CHECK: Check = Check { id: "PF601", page: include_str!("page.md"), rdma_only: true, judge };

fn judge(context: &Context<'_>) -> Outcome {
    either(hcas(context))
}

fn hcas(context: &Context<'_>) -> Result<Outcome, Outcome> {
    let Some((value, place)) = context.setting("NCCL_IB_HCA")? else {
        return Ok(Outcome::off("NCCL_IB_HCA is not set"));
    };
    let usable = context.usable()?;
    if usable.is_empty() {
        return Err(Outcome::unknown("no usable RDMA device (see PF101)"));
    }
    let list = NameList::parse(&value);
    let matches = |item: &str, name: &str| if list.exact { name == item } else { name.starts_with(item) };
    let chosen = |name: &str| list.devices().any(|item| matches(item, name)) != list.excludes;
    let names: Vec<&str> = usable.iter().map(|device| device.name.as_str()).collect();
    let taken: Vec<&str> = names.iter().copied().filter(|name| chosen(name)).collect();
    let setting = format!("NCCL_IB_HCA={value} ({place})");
    if taken.is_empty() {
        return Ok(Outcome::fail(
            Fault::Configuration,
            format!("{setting} matches none of {}: NCCL uses TCP over sockets", listed(&names)),
            "Remove NCCL_IB_HCA, or set a prefix of the devices' names, such as mlx5.",
        ));
    }
    let absent: Vec<&str> = list
        .devices()
        .filter(|item| !list.excludes && !names.iter().any(|name| matches(item, name)))
        .collect();
    if !absent.is_empty() {
        return Ok(Outcome::warn(
            Fault::Configuration,
            format!(
                "{setting}: this pod has no {}, so NCCL uses only {}",
                listed(&absent),
                count(taken.len(), "device")
            ),
            "Names of devices differ between nodes. Set a prefix such as mlx5, or let preflight write the list.",
        ));
    }
    Ok(Outcome::pass(format!("{setting} matches {} of {}", taken.len(), count(names.len(), "device"))))
}

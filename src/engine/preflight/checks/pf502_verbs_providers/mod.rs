//! PF502: the provider of each usable device in the image.

use crate::preflight::check_declaration::{
    Check, Context, Found, Tally, either_outcome, listed, value_or_outcome,
};
use crate::preflight::check_outcome::{PreflightCheckOutcome, WhoCanFix};
use crate::preflight::ibverbs_providers::provider;
use crate::preflight::image::libibverbs_driver_config;
use crate::rdma::Unreadable;
use crate::text::count_with_noun;

pub(super) static CHECK: Check = Check { id: "PF502", page: include_str!("page.md"), rdma_only: true, judge };

fn judge(context: &Context<'_>) -> PreflightCheckOutcome {
    either_outcome(providers(context))
}

fn providers(context: &Context<'_>) -> Result<PreflightCheckOutcome, PreflightCheckOutcome> {
    let usable = context.usable()?;
    if usable.is_empty() {
        return Err(PreflightCheckOutcome::unknown("no usable RDMA device (see PF101)"));
    }
    let image = &context.seen.image;
    let abi = *value_or_outcome(&image.private_abi, "provider number in libibverbs")?;
    let mut names = Vec::new();
    let mut tally = Tally::default();
    for device in usable {
        match provider(device) {
            Some(name) if names.contains(&name) => {}
            Some(name) => names.push(name),
            None => tally
                .add(&device.name, Err(Found::Unknown("the driver of this device is not known".to_owned()))),
        }
    }
    let environment = value_or_outcome(&context.seen.environment, "environment")?;
    // libibverbs reads the second variable only without the first.
    let variable = environment.get("RDMAV_DRIVERS").or_else(|| environment.get("IBV_DRIVERS"));
    let mut undeclared = 0;
    for name in names {
        let file = format!("lib{name}-rdmav{abi}.so");
        let found = match image.providers.get(name) {
            None | Some(Err(Unreadable::Missing)) => {
                let start = format!("lib{name}-rdmav");
                let other = image
                    .other_providers
                    .iter()
                    .find(|path| path.rsplit('/').next().is_some_and(|f| f.starts_with(&start)));
                Err(Found::Bad(match other {
                    Some(other) => format!("is missing; {other} belongs to another release of libibverbs"),
                    None => "is missing".to_owned(),
                }))
            }
            Some(Err(why)) => Err(Found::from(why)),
            Some(Ok(library)) if !library.fits => Err(Found::Bad("is for another architecture".to_owned())),
            Some(Ok(library)) if !library.missing.is_empty() => {
                Err(Found::Bad(format!("needs {}, which the image does not have", listed(&library.missing))))
            }
            Some(Ok(_)) => {
                let named = |own: &str| libibverbs_driver_config::is_provider(own, name);
                if variable.is_some_and(|names| names.split([':', ';']).any(named)) {
                    Ok(())
                } else {
                    match &image.drivers {
                        Ok(drivers) if drivers.iter().any(|own| named(own)) => Ok(()),
                        Ok(_) => {
                            undeclared += 1;
                            let folder = &image.driver_folder;
                            Err(Found::Bad(format!(
                                "is not loaded: no file in {folder} has the line driver {name}"
                            )))
                        }
                        Err(why) => Err(Found::Unknown(format!("{}: {why}", image.driver_folder))),
                    }
                }
            }
        };
        tally.add(&file, found);
    }
    if tally.bad.is_empty() {
        return Ok(tally.outcome_if_none_is_bad(|good| {
            PreflightCheckOutcome::pass(format!(
                "{}: {}",
                count_with_noun(good.len(), "provider"),
                listed(good)
            ))
        }));
    }
    Ok(PreflightCheckOutcome::fail(
        WhoCanFix::Configuration,
        format!("{}: libibverbs ignores the devices, and NCCL uses TCP over sockets", listed(&tally.bad)),
        if undeclared == tally.bad.len() {
            "Install the whole package of the providers (Debian: ibverbs-providers), or also copy its files NAME.driver to this folder."
        } else {
            "Install libibverbs and its providers from the same source: either the distribution or DOCA-OFED."
        },
    ))
}

//! What holds of every decision, whatever the pod and the cluster: checked on cases made by chance, with the
//! smallest case and the seed printed where one fails. `PROPTEST_CASES` asks for more of them.

mod a_second_decision_changes_nothing;
mod any_bytes_are_answered;
mod cases_reach_everything;
mod changes_point_at_what_they_say;
mod everything_of_the_user_survives;
mod modes_differ_in_the_verdict_alone;
mod only_allowed_paths_are_written;
mod placement_narrows_to_the_profiles_nodes;
mod the_order_of_facts_does_not_matter;
mod the_webhook_says_the_same;

use crate::support::generated_cases;
use crate::support::generated_documents::Documents;
use crate::support::generated_world::World;
use crate::support::run_property::check;
use crate::support::suite::Suite;
use a_second_decision_changes_nothing::converges;
use any_bytes_are_answered::{answered, review};
use cases_reach_everything::{cases_reach_everything, own_fabric};
use changes_point_at_what_they_say::{changes_are_unique, changes_point};
use everything_of_the_user_survives::survives;
use modes_differ_in_the_verdict_alone::modes;
use only_allowed_paths_are_written::allowed;
use placement_narrows_to_the_profiles_nodes::narrows;
use proptest::prelude::any;
use the_order_of_facts_does_not_matter::order_of_facts;
use the_webhook_says_the_same::webhook_agrees;

/// Adds the trials.
pub(crate) fn add(suite: &mut Suite) {
    for (name, property) in PROPERTIES {
        let name = format!("properties::{name}");
        let property = *property;
        suite.add(name.clone(), move || {
            check(&name, 600, Documents(generated_cases::case), |case| property(&World::new(&case.0)))
        });
    }
    suite.add("properties::any_object_is_answered", || {
        check("properties::any_object_is_answered", 2000, Documents(generated_cases::anything), |object| {
            answered(&review("u", &object.0))
        })
    });
    suite.add("properties::any_bytes_are_answered", || {
        let strategy = (Documents(generated_cases::anything), any::<[(u32, u8); 6]>(), 0..8_usize);
        check("properties::any_bytes_are_answered", 2000, strategy, |(object, edits, count)| {
            let mut body = review("u", &object.0);
            for (at, byte) in edits.iter().take(count) {
                let at = usize::try_from(*at).unwrap() % (body.len() + 1);
                match byte % 4 {
                    0 => body.truncate(at),
                    1 => body.insert(at, *byte),
                    2 => drop(body.drain(at..(at + usize::from(*byte)).min(body.len()))),
                    _ => body.get_mut(at).into_iter().for_each(|b| *b = *byte),
                }
            }
            answered(&body)
        })
    });
    suite.add("properties::cases_reach_everything", cases_reach_everything);
    suite.add("properties::some_pods_bring_their_own_fabric", own_fabric);
}

type Property = fn(&World) -> Result<(), String>;

const PROPERTIES: &[(&str, Property)] = &[
    ("the_patch_applies", |world| world.patched().map(drop)),
    ("a_second_decision_changes_nothing", converges),
    ("only_allowed_paths_are_written", |world| {
        let Some(decision) = world.decide() else { return Ok(()) };
        decision
            .patch
            .read_operations()
            .iter()
            .try_for_each(|o| allowed(o, &world.pod).map_err(|e| format!("{o:?}: {e}")))
    }),
    ("everything_of_the_user_survives", survives),
    ("placement_narrows_to_the_profiles_nodes", narrows),
    ("changes_point_at_what_they_say", changes_point),
    ("changes_are_unique_and_in_order", changes_are_unique),
    ("the_webhook_says_the_same", webhook_agrees),
    ("the_order_of_facts_does_not_matter", order_of_facts),
    ("modes_differ_in_the_verdict_alone", modes),
];

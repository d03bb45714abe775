//! The same facts in another order give the same decision.

use crate::support::generated_world::World;

pub(super) fn order_of_facts(world: &World) -> Result<(), String> {
    let turned = World::turned(&world.case);
    let (here, there) = (format!("{:?}", world.decide()), format!("{:?}", turned.decide()));
    if here == there { Ok(()) } else { Err(format!("{here}\nwith the facts the other way round:\n{there}")) }
}

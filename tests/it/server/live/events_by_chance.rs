//! Whatever happens in whatever order, what is known in the end is what a fresh start finds.

use super::{Live, namespace, network, node, pod_naming, pod_of, pod_of_namespace, profile, serve, soon};
use crate::support::scripted_api_server::script::{Gone, How, Script};
use crate::support::server::{Server, review};
use crate::support::suite::{Outcome, Suite};
use serde_json::{Value, json};

const FABRICS: [&str; 3] = ["east", "west", "north"];
const POOLS: [&str; 3] = ["p", "q", "r"];
const STEPS: usize = 120;

pub(super) fn add(suite: &mut Suite) {
    for seed in 1..=4_u64 {
        suite.add(format!("live::any_order_of_events_ends_as_a_fresh_start::seed_{seed}"), move || {
            run(seed).map_err(|e| format!("seed {seed}: {e}").into())
        });
    }
    suite.add("live::answers_distinguish_clusters", distinguished);
}

/// xorshift64*, so that a seed says everything.
struct Dice(u64);

impl Dice {
    fn below(&mut self, sides: usize) -> usize {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        (self.0.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 33) as usize % sides
    }

    fn of<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.below(from.len())]
    }
}

fn run(seed: u64) -> Result<(), String> {
    let mut dice = Dice(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1);
    let script = Script::start()?;
    script.put("Node", node("gpu-b", "none", "bare"));
    for _ in 0..20 {
        change(&script, &mut dice);
    }
    let mut live = Live::start(script)?;
    let mut story = Vec::new();
    for _ in 0..STEPS {
        story.push(step(&mut live.script, &mut dice)?);
        // Now and then there is time in which everything arrives.
        if dice.below(8) == 0 {
            std::thread::sleep(std::time::Duration::from_millis(dice.below(80) as u64));
        }
    }
    live.script.fail(500, 0);
    live.script.refuse("Namespace", None);
    live.script.refuse("NetworkAttachmentDefinition", None);
    let story = story.join("\n");
    let expected = fresh(&live.script)?;
    soon("the same answers as from a fresh start", || Ok(answers(&live.server)? == expected)).map_err(
        |e| {
            let found = answers(&live.server).unwrap_or_default();
            let wrong: Vec<String> = found
                .iter()
                .zip(&expected)
                .filter(|(a, b)| a != b)
                .map(|(a, b)| format!("{a}\nnot {b}"))
                .collect();
            format!("{e}\n{}\n{}\n{story}", wrong.join("\n"), live.watching())
        },
    )?;
    for kind in ["Node", "Namespace", "NetworkAttachmentDefinition", "FabricProfile"] {
        let count = live.script.count(kind) as f64;
        soon(&format!("{count} of {kind}"), || Ok(live.of_kind("objects", kind)? == count))
            .map_err(|e| format!("{e}: {}\n{story}", live.watching()))?;
    }
    live.end()
}

/// Something of what happens in a cluster; what it was, in words.
fn step(script: &mut Script, dice: &mut Dice) -> Result<String, String> {
    Ok(match dice.below(20) {
        0 => {
            let how = dice.of(&[How::Clean, How::Closed, How::MidLine, How::MidChunk]);
            script.drop_streams(how);
            format!("streams end: {how:?}")
        }
        1 => {
            let gone = dice.of(&[Gone::Status, Gone::Event]);
            script.compact(gone);
            format!("compaction: {gone:?}")
        }
        2 => {
            let (how, gone) =
                (dice.of(&[How::Closed, How::MidLine, How::MidChunk]), dice.of(&[Gone::Status, Gone::Event]));
            script.drop_streams(how);
            let what = change(script, dice);
            script.compact(gone);
            format!("streams end: {how:?}; {what}; compaction: {gone:?}")
        }
        3 => format!("bookmark {}", script.bookmark()),
        4 => {
            let (code, times) = (dice.of(&[500, 503, 429]), 1 + dice.below(5));
            script.fail(code, times);
            format!("{times} times {code}")
        }
        5 => {
            let most = dice.of(&[1, 2, 5, 500]);
            script.page(most);
            format!("pages of {most}")
        }
        6 => {
            let (kind, refused) =
                (dice.of(&["Namespace", "NetworkAttachmentDefinition"]), dice.of(&[None, None, Some(403)]));
            script.refuse(kind, refused);
            format!("{kind} refused: {refused:?}")
        }
        7 if dice.below(3) == 0 => {
            script.down();
            let what = change(script, dice);
            script.up()?;
            format!("down; {what}; up")
        }
        _ => change(script, dice),
    })
}

/// One object comes, changes or goes.
fn change(script: &Script, dice: &mut Dice) -> String {
    let gone = dice.below(4) == 0;
    let (fabric, pool) = (dice.of(&FABRICS), dice.of(&POOLS));
    match dice.below(6) {
        0..=2 => {
            let name = format!("gpu-{}", dice.below(6));
            if gone {
                script.delete("Node", "", &name);
                return format!("no node {name}");
            }
            script.put("Node", node(&name, fabric, pool));
            format!("node {name}: {fabric} {pool}")
        }
        3 => {
            if gone {
                script.delete("NetworkAttachmentDefinition", "fabric", fabric);
                return format!("no network {fabric}");
            }
            script.put("NetworkAttachmentDefinition", network(fabric));
            format!("network {fabric}")
        }
        4 => {
            let default = Some(fabric).filter(|_| !gone);
            script.put("Namespace", namespace("training", default));
            format!("namespace: {default:?}")
        }
        _ => {
            if gone {
                script.delete("FabricProfile", "", fabric);
                return format!("no profile {fabric}");
            }
            let resource = dice.of(&["x.com/east", "x.com/west"]);
            script.put("FabricProfile", profile(fabric, resource));
            format!("profile {fabric}: {resource}")
        }
    }
}

/// Everything the webhook says of a few pods: what is patched, refused and warned.
fn answers(server: &Server) -> Result<Vec<Value>, String> {
    let mut pods: Vec<Value> = FABRICS.iter().map(|fabric| pod_naming(fabric)).collect();
    pods.extend(POOLS.iter().map(|pool| pod_of(pool)));
    pods.push(pod_of_namespace());
    pods.iter()
        .map(|pod| {
            let body = review("u", ("", "Pod"), "CREATE", pod).to_string();
            server.post("/mutate", body.as_bytes())?.untimed()
        })
        .collect()
}

fn fresh(script: &Script) -> Result<Vec<Value>, String> {
    let server = serve(script, &[], &[])?;
    soon("a fresh start is ready", || Ok(server.admin("/readyz")?.status == 200))?;
    let mut last = answers(&server)?;
    soon("answers rest", || {
        let now = answers(&server)?;
        Ok(std::mem::replace(&mut last, now.clone()) == now)
    })?;
    Ok(last)
}

/// Other objects give other answers, or the comparison above would say nothing.
fn distinguished() -> Outcome {
    let script = super::site()?;
    let first = fresh(&script)?;
    script.put("Node", node("gpu-1", "west", "p"));
    let second = fresh(&script)?;
    assert_ne!(first, second);
    script.put("Namespace", namespace("training", Some("north")));
    let third = fresh(&script)?;
    assert_ne!(second, third);
    script.delete("NetworkAttachmentDefinition", "fabric", "west");
    let fourth = fresh(&script)?;
    assert_ne!(third, fourth);
    script.put("FabricProfile", profile("east", "x.com/other"));
    assert_ne!(fourth, fresh(&script)?);
    assert_eq!(json!(first).as_array().map(Vec::len), Some(FABRICS.len() + POOLS.len() + 1));
    Ok(())
}

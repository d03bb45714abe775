//! FAB409 and FAB410: values that NCCL takes as something else, or not at all.

use crate::nccl::table::{Reading, Variable};
use crate::nccl::value::{outside, unknown_word};
use crate::rules::{Findings, Meta, PodContext, Rule, Severity, Waiver};
use crate::text::printable;

/// FAB409.
pub(super) struct UnknownWord;

static UNKNOWN_WORD: Meta = Meta {
    id: "FAB409",
    severity: Severity::Warning,
    summary: "a value that NCCL does not know",
    what: "Variables with a closed set of words: distances such as `NCCL_NET_GDR_LEVEL` (capitals), address families \
           (`AF_INET`, `AF_INET6` to the letter), `NCCL_DEBUG` and its subsystems, `NCCL_ALGO` and `NCCL_PROTO`, policies, and \
           ranges of addresses.",
    why: "NCCL does not complain. Distances and families fall back to the default, `NCCL_DEBUG=ERROR` or `WARN,VERSION` \
          writes no log at all; only an algorithm or protocol that is not known ends the start, from 2.24 on.",
    fix: "Write one of the words that the message names.",
    bad: pod!("    - {name: NCCL_NET_GDR_LEVEL, value: pix}\n"),
    good: pod!("    - {name: NCCL_NET_GDR_LEVEL, value: PIX}\n"),
    sources: &[
        "NVIDIA/nccl src/graph/paths.cc (ncclTopoGetLevel)",
        "NVIDIA/nccl src/debug.cc, src/misc/socket.cc, src/transport/net_ib (envIbAddrFamily, envIbAddrRange)",
    ],
    since: "0.1.0",
    kinds: &[],
    also: &["NB28", "NB29", "NB50"],
    waiver: Waiver::Allowed,
};

impl Rule for UnknownWord {
    fn meta(&self) -> &'static Meta {
        &UNKNOWN_WORD
    }
    fn pod(&self, context: &PodContext<'_>, findings: &mut Findings<'_>) {
        for spoken in context.spoken() {
            for (given, value) in spoken.values() {
                let Some(known) = given.known else { continue };
                let Some(word) = unknown_word(known, value) else { continue };
                // Off, by a word that does the same as any other.
                if known.name == "NCCL_DEBUG" && (word.eq_ignore_ascii_case("none") || word == "0") {
                    continue;
                }
                let shown = printable(word, 40);
                let does = effect(known);
                let place = spoken.place(given);
                findings.add(
                    spoken.path(given),
                    format!("{}={shown}{place}: {does}", known.name),
                    fix(known, word),
                );
            }
        }
    }
}

fn effect(known: &Variable) -> &'static str {
    match (known.name, known.reading) {
        ("NCCL_DEBUG", _) => "no level that NCCL knows, so it logs nothing",
        (_, Reading::Functions) => "not known to NCCL, which from 2.24 on does not start",
        _ => "not known to NCCL, which goes on with the default",
    }
}

fn fix(known: &Variable, word: &str) -> String {
    let meant = known.words().find(|w| w.eq_ignore_ascii_case(word.trim()));
    let family = || known.words().find(|w| w.starts_with("AF_") && w.ends_with('6') == word.contains('6'));
    match meant.or_else(family) {
        Some(meant) => format!("write {meant}"),
        None if known.reading == Reading::Range => "write a range such as 10.0.0.0/16".to_owned(),
        None if known.name == "NCCL_DEBUG" => "write WARN or INFO".to_owned(),
        None => {
            let words: Vec<&str> =
                known.words().filter(|w| w.bytes().any(|b| b.is_ascii_alphabetic())).collect();
            format!("write one of {}", words.join(", "))
        }
    }
}

/// FAB410.
pub(super) struct OutsideRange;

static OUTSIDE_RANGE: Meta = Meta {
    id: "FAB410",
    severity: Severity::Warning,
    summary: "a number outside what the variable takes",
    what: "Numbers of NCCL whose bounds are known, read as NCCL reads them (`010` is 8, `0x29` is 41). Below zero, which \
           stands for an automatic choice, is let be where that is the default.",
    why: "`NCCL_IB_TIMEOUT` of 0 or above 31 means no limit: a link that is down never ends in an error, and the job hangs. \
          Other numbers are cut to the bits of a queue pair, or refused as it is made (`ibv_modify_qp failed with 22`).",
    fix: "Write a number within the bounds, or drop the variable for the default.",
    bad: pod!("    - {name: NCCL_IB_TIMEOUT, value: \"100\"}\n"),
    good: pod!("    - {name: NCCL_IB_TIMEOUT, value: \"22\"}\n"),
    sources: &[
        "NVIDIA/nccl docs/userguide/source/env.rst (NCCL_IB_TIMEOUT, NCCL_IB_RETRY_CNT, NCCL_IB_SL, NCCL_IB_TC)",
        "linux-rdma/rdma-core libibverbs/man/ibv_modify_qp.3 (timeout 5 bits, retry_cnt 3 bits)",
    ],
    since: "0.1.0",
    kinds: &[],
    also: &["NB40"],
    waiver: Waiver::Allowed,
};

impl Rule for OutsideRange {
    fn meta(&self) -> &'static Meta {
        &OUTSIDE_RANGE
    }
    fn pod(&self, context: &PodContext<'_>, findings: &mut Findings<'_>) {
        for spoken in context.spoken() {
            for (given, value) in spoken.values() {
                let Some(known) = given.known else { continue };
                let Some(number) = outside(known, value) else { continue };
                let place = spoken.place(given);
                let bounds = match known.range {
                    (Some(least), Some(most)) => format!("{least} to {most}"),
                    (Some(least), None) => format!("{least} or more"),
                    (None, most) => format!("at most {}", most.unwrap_or_default()),
                };
                let does = match known.name {
                    "NCCL_IB_TIMEOUT" => "no limit at all, so a dead link hangs the job".to_owned(),
                    _ => format!("{bounds} is expected"),
                };
                let default = known.default.filter(|d| *d != "auto");
                let default = default.map_or(String::new(), |d| format!(" ({d})"));
                findings.add(
                    spoken.path(given),
                    format!("{}={number}{place}: {does}", known.name),
                    format!("write {bounds}, or drop it for the default{default}"),
                );
            }
        }
    }
}

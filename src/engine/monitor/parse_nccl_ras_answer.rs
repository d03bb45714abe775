//! NCCL's RAS: the answer to `STATUS` in text, which NCCL has had in this form since 2.24 (NVIDIA/nccl
//! `src/ras/client_support.cc`, docs "RAS"; compared at 2.24.3, 2.26.2, 2.27.7, 2.28.9 and 2.30).

use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash, Hasher};

/// Longest answer that is read (bytes): RAS groups communicators, and names at most ten ranks of each.
pub const MAX_ANSWER_BYTES: usize = 256 << 10;
/// Most communicators whose counts are kept.
const MAX_COMMUNICATORS: usize = 1024;

/// What an answer says.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RasAnswer {
    /// Ranks that did not answer, in the communicator with the most of them.
    pub missing_ranks: u64,
    /// Processes that RAS considers dead.
    pub dead_processes: u64,
    /// Communicators whose ranks have launched different numbers of operations, with a hash of these numbers.
    mismatched: BTreeMap<String, u64>,
}

/// The last answer, compared with the one before it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Ras {
    /// The last answer; `None` if the last question had none.
    pub answer: Option<RasAnswer>,
    /// Communicators with the same different counts in the last two answers. Counts that differ once are usual while
    /// operations run.
    pub stuck: u64,
}

impl Ras {
    /// Takes an answer, or its absence.
    pub fn replace_answer_and_count_stuck(&mut self, answer: Option<RasAnswer>) {
        let same = |before: &RasAnswer, now: &RasAnswer| {
            now.mismatched
                .iter()
                .filter(|(comm, counts)| before.mismatched.get(*comm) == Some(*counts))
                .count()
        };
        self.stuck = match (&self.answer, &answer) {
            (Some(before), Some(now)) => same(before, now) as u64,
            _ => 0,
        };
        self.answer = answer;
    }
}

/// The part of the answer that a line belongs to.
enum Section<'a> {
    Other,
    Incomplete,
    Mismatch(&'a str),
}

/// Reads an answer.
///
/// # Errors
/// A text that is not an answer of RAS, or ends before the communicators.
pub fn ras_answer(text: &str) -> Result<RasAnswer, &'static str> {
    if !text.starts_with("NCCL version ") {
        return Err("the answer is not one of NCCL's RAS");
    }
    let is_whole = text.contains("\nGroup ") || text.contains("No communicator data collected!");
    if !is_whole || text.len() > MAX_ANSWER_BYTES {
        return Err("the answer of NCCL's RAS is cut");
    }
    let mut answer = RasAnswer::default();
    let mut section = Section::Other;
    let mut counts: BTreeMap<&str, DefaultHasher> = BTreeMap::new();
    for line in text.lines() {
        let Some(entry) = line.strip_prefix("  ") else {
            if let Some(heading) = line.strip_prefix('#') {
                // `#0-0 (27a079b828ff1a75) MISMATCH`
                let hash = heading.split(['(', ')']).nth(1).unwrap_or_default();
                section = match heading.rsplit(' ').next() {
                    Some("INCOMPLETE") => Section::Incomplete,
                    Some("MISMATCH") => Section::Mismatch(hash),
                    _ => Section::Other,
                };
            } else if !line.is_empty() {
                section = Section::Other;
            }
            continue;
        };
        if let Some(rest) = entry.strip_prefix("Missing communicator data from ") {
            if matches!(section, Section::Incomplete) {
                answer.missing_ranks = answer.missing_ranks.max(number(rest));
            }
        } else if entry.contains(" considered dead (") {
            answer.dead_processes = answer.dead_processes.max(number(entry));
        } else if let Section::Mismatch(hash) = section {
            // Which ranks have which status, and the names of the ranks, are not counts.
            let is_count = entry.contains(" operation counts")
                || entry.contains("launched up to operation ")
                || entry.contains("have not launched any operations")
                || entry.contains("has not launched any operations");
            if is_count && (counts.len() < MAX_COMMUNICATORS || counts.contains_key(hash)) {
                entry.hash(counts.entry(hash).or_default());
            }
        }
    }
    answer.mismatched = counts.into_iter().map(|(comm, counts)| (comm.to_owned(), counts.finish())).collect();
    Ok(answer)
}

/// The number at the start of a text.
fn number(text: &str) -> u64 {
    text.split(' ').next().and_then(|digits| digits.parse().ok()).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEAD: &str = "NCCL version 2.28.9+cuda13.0 compiled with CUDA 13.0\n\
        CUDA runtime version 13000, driver version 13000\n\nJob summary\n===========\n\n\
        Communicators... (0.00s)\n=============\n\n\
        Group     Comms     Nodes     Ranks     Ranks     Ranks    Status  Errors\n\
        \x20   #  in group  per comm  per node  per comm  in group\n";

    fn answer(rest: &str) -> RasAnswer {
        ras_answer(&format!("{HEAD}{rest}")).unwrap()
    }

    fn mismatch(count: u64) -> RasAnswer {
        answer(&format!(
            "    0         1         4         8        32        32   RUNNING  MISMATCH\n\nWarnings\n========\n\n\
             #0-0 (27a079b828ff1a75) MISMATCH\n  Communicator ranks have different AllReduce operation counts\n\
             \x20 26 ranks have launched up to operation {count}\n  6 ranks have launched up to operation 6649\n\
             \x20 Rank 0 -- GPU 0 managed by process 483072 on node 172.16.64.210\n\n"
        ))
    }

    #[test]
    fn a_healthy_job() {
        let found = answer("    0         8         4         1         4        32   RUNNING      OK\n");
        assert_eq!(found, RasAnswer::default());
    }

    #[test]
    fn missing_ranks_and_dead_processes() {
        let found = answer(
            "\nErrors\n======\n\nINCOMPLETE\n  Missing communicator data from 4 job processes\n\nDEAD\n  \
             2 job processes are considered dead (unreachable via the RAS network)\n\n\
             #0-0 (cf264af53edbe986) INCOMPLETE\n  Missing communicator data from 1 rank\n  The missing rank: 21\n\n\
             #1-0 (cf264af53edbe987) INCOMPLETE\n  Missing communicator data from 3 ranks\n",
        );
        // The processes of the summary are not ranks.
        assert_eq!((found.missing_ranks, found.dead_processes), (3, 2));
    }

    #[test]
    fn counts_are_stuck_when_they_differ_twice_in_the_same_way() {
        let mut ras = Ras::default();
        for (answer, stuck) in [
            (Some(mismatch(6650)), 0),
            (Some(mismatch(6651)), 0),
            (Some(mismatch(6651)), 1),
            (Some(mismatch(6651)), 1),
            (None, 0),
            (Some(mismatch(6651)), 0),
            (Some(RasAnswer::default()), 0),
        ] {
            ras.replace_answer_and_count_stuck(answer);
            assert_eq!(ras.stuck, stuck);
        }
    }

    #[test]
    fn another_status_is_not_a_count() {
        let status = "\nWarnings\n========\n\n#0-0 (9e17999afaa87dbb) MISMATCH\n  Communicator ranks have different \
                      status\n  4 ranks have status RUNNING\n  2 ranks have status FINALIZE\n";
        let mut ras = Ras::default();
        ras.replace_answer_and_count_stuck(Some(answer(status)));
        ras.replace_answer_and_count_stuck(Some(answer(status)));
        assert_eq!(ras.stuck, 0);
    }

    #[test]
    fn nonsense_is_not_an_answer() {
        for text in
            ["", "HTTP/1.1 400 Bad Request\r\n", "ERROR: unknown command", "NCCL version 2.28\nJob summary\n"]
        {
            assert!(ras_answer(text).is_err(), "{text}");
        }
        assert!(ras_answer(&format!("{HEAD}{}", "x".repeat(MAX_ANSWER_BYTES))).is_err());
    }
}

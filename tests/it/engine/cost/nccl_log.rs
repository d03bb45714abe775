//! What reading a log of NCCL costs.

use super::now;
use crate::support::suite::Outcome;
use fabric_admission::nccl_log::{Lines, Log, Place};

/// Twenty times the lines take about twenty times as long; with a search through all ranks of the device, 150 times.
pub(super) fn proportionate() -> Outcome {
    let time = |lines: u32| {
        let begin = |n: u32| {
            format!(
                "h1:1:9 [0] NCCL INFO ncclCommInitRank comm {n:#x} rank {n} nranks 65536 cudaDev 0 nvmlDev 0 busId 1000 \
                 commId 0x1 - Init START\n"
            )
        };
        let text: String = (1..lines).map(begin).collect();
        let once = || {
            let (mut cut, mut log, before) = (Lines::default(), Log::default(), now());
            cut.push(text.as_bytes(), |line| log.add_line(line, Place { input: 0, line: 1 }));
            now() - before
        };
        once().min(once())
    };
    let (short, long) = (time(1000), time(20_000));
    assert!(long < short * 60, "{short:?} for 1000 lines, {long:?} for 20000");
    Ok(())
}

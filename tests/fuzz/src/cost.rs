//! What an input may cost: so many bytes a second of this thread's own CPU time, however the input is made and however
//! often it is repeated. A reader that is quadratic in anything fails it.

use super::Check;

/// Bytes that must be done in a second (count). Instrumented code on a slow machine still does ten times as many.
const FLOOR: u64 = 1 << 20;
/// What an input may cost whatever its length (ns): a page fault, a thread that is moved.
const SLACK: u64 = 30_000_000;
/// To which length an input is repeated now and then (bytes).
const LONG: usize = 128 << 10;

/// Checks an input, and now and then the same over and over in one.
pub fn timed(data: &[u8], check: Check) {
    within(data, check);
    // One in 64, by the input itself, so that a failure fails again.
    let mark =
        data.iter().fold(0xcbf2_9ce4_8422_2325_u64, |h, b| (h ^ u64::from(*b)).wrapping_mul(0x100_0000_01b3));
    if !data.is_empty() && mark >> 58 == 0 {
        within(&data.repeat(LONG / data.len()), check);
    }
}

fn within(data: &[u8], check: Check) {
    let length = u64::try_from(data.len()).unwrap_or(u64::MAX);
    let most = SLACK + length.saturating_mul(1_000_000_000) / FLOOR;
    // A busy machine takes time that is counted as ours; it does not do so every time.
    let mut least = u64::MAX;
    for _ in 0..4 {
        let before = spent();
        check(data);
        let (Some(before), Some(after)) = (before, spent()) else { return };
        least = least.min(after - before);
        climb(least / length.max(64));
        if least <= most {
            return;
        }
    }
    panic!("{length} bytes took {} ms", least / 1_000_000);
}

/// Shows libFuzzer how much an input costs per byte (ns): each doubling is a function of its own. So it keeps each input
/// that costs more than all before it, and changes that one next.
fn climb(per_byte: u64) {
    match per_byte.checked_ilog2().unwrap_or(0) {
        0..=4 => {}
        5 => step::<5>(),
        6 => step::<6>(),
        7 => step::<7>(),
        8 => step::<8>(),
        9 => step::<9>(),
        10 => step::<10>(),
        11 => step::<11>(),
        12 => step::<12>(),
        13 => step::<13>(),
        _ => step::<14>(),
    }
}

#[inline(never)]
fn step<const DOUBLINGS: u32>() {
    std::hint::black_box(DOUBLINGS);
}

/// CPU time of this thread (ns), where Linux tells it.
fn spent() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    text.split(' ').next()?.parse().ok()
}

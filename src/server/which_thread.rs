//! Which thread decides on a request: the one that read its body, or one of those for decisions that may take longer than a
//! millisecond ([`super::decision_threads`]).

use super::estimate_memory_of_decision::DecisionMemoryEstimate;
use super::fair_share_per_client_address::MAX_SMALL_BODY_BYTES;
use super::shared_state::State;
use crate::review::decide_webhook_request::WebhookEntry;
use crate::review::{max_templates_in_body, stored_runtimes_of_train_job};
use std::time::Duration;

/// The largest body that is decided on the thread that read it (bytes): a hand-over costs more than most decisions. The
/// dearest pods take 64 ns per byte, so 16 KiB of them take a millisecond; pods of people take a tenth of that. (opt-level
/// 3, two x86-64 cores: 200 containers that each get a plan, 15 KiB, 0.8 ms; 850 of them, 60 KiB, 4 ms; 64 KiB of networks
/// in an annotation 4 ms; 64 KiB of a device plugin's configuration 9 ms.)
pub(super) const MAX_BYTES_ON_READING_THREAD: usize = 16 * 1024;
/// Most pod templates that are decided on the thread that read them (count): two roles, in two versions. Each takes as long
/// as a pod.
const MAX_TEMPLATES_ON_READING_THREAD: usize = 4;
/// What each pod template counts for beside its length (bytes), where there are more. All such workloads wait with the large
/// bodies: one of 40 kB takes 15 ms, fifty times as long as a pod of this length.
const WEIGHT_OF_TEMPLATE: usize = 16 * 1024;

/// CPU time that a decision may take on the thread that read the body. Decisions on pods of people take a tenth of that.
pub(super) const MAX_CPU_TIME_ON_READING_THREAD: Duration = Duration::from_millis(1);
/// CPU time that a decision may take on a thread for small bodies: all users of an API server share these threads.
pub(super) const MAX_CPU_TIME_ON_SMALL_THREAD: Duration = Duration::from_millis(4);

/// The thread of a decision.
pub(super) enum DecisionThread {
    /// The thread that read the body.
    ThatReadIt,
    /// One of the threads for decisions, with what the decision reads beside the body.
    OfItsOwn(DecisionMemoryEstimate),
}

/// The thread that decides on a body. An entry that is `off` decides nothing.
pub(super) fn choose_thread(state: &State, entry: WebhookEntry, body: &[u8], off: bool) -> DecisionThread {
    let beside = if off {
        DecisionMemoryEstimate::default()
    } else {
        weight_of_facts_and_templates(state, entry, body)
    };
    // A runtime has up to 16 jobs, and each gets a copy of what the body says. A body of 16 KiB has two hundred templates.
    if body.len() > MAX_BYTES_ON_READING_THREAD || beside.weighed_bytes() > 0 {
        DecisionThread::OfItsOwn(beside)
    } else {
        DecisionThread::ThatReadIt
    }
}

/// What a decision on a small body reads beside it, and the templates in it. A large body is queued as one whatever it names.
fn weight_of_facts_and_templates(state: &State, entry: WebhookEntry, body: &[u8]) -> DecisionMemoryEstimate {
    let mut beside = DecisionMemoryEstimate::default();
    if body.len() <= MAX_SMALL_BODY_BYTES {
        let snapshot = state.snapshot.load();
        stored_runtimes_of_train_job(body, entry, &snapshot)
            .iter()
            .for_each(|text| beside.weigh_next_part_of_body(text.as_bytes()));
        let templates = max_templates_in_body(body, entry);
        if templates > MAX_TEMPLATES_ON_READING_THREAD {
            beside.weigh_work_as_bytes(templates.saturating_mul(WEIGHT_OF_TEMPLATE));
        }
    }
    beside
}

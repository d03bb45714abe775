//! Work that takes turns with that of others, each time that it can go on.

use std::pin::Pin;
use std::task::Poll;

/// Completes as the work does. Each time that the work can go on, it waits for a turn first. The turn is over once the work
/// waits for something.
pub(super) async fn one_poll_per_turn<W: Future + Unpin, F: Future>(
    mut work: W,
    turn: impl Fn() -> F,
) -> W::Output {
    loop {
        let mut taken = Some(turn().await);
        let polled = std::future::poll_fn(|context| {
            // The second time it is woken because the work can go on.
            let Some(_turn) = taken.take() else { return Poll::Ready(None) };
            Pin::new(&mut work).poll(context).map(Some)
        });
        if let Some(output) = polled.await {
            return output;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::{Arc, Mutex};
    use tokio::sync::Semaphore;

    /// Begins and ends in the order of the turns, and ends although it is woken while it waits for one.
    #[test]
    fn the_turn_is_for_others_while_the_work_waits() {
        let log = Arc::new(Mutex::new(Vec::new()));
        let turns = Arc::new(Semaphore::new(1));
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        runtime.block_on(async {
            let mut all = tokio::task::JoinSet::new();
            for name in ["a", "b", "c"] {
                let (log, turns) = (Arc::clone(&log), Arc::clone(&turns));
                all.spawn(async move {
                    let work = Box::pin(async {
                        log.lock().unwrap().push((name, "begins"));
                        tokio::task::yield_now().await;
                        log.lock().unwrap().push((name, "ends"));
                        name
                    });
                    one_poll_per_turn(work, || async {
                        let turn = turns.acquire().await.unwrap();
                        tokio::task::yield_now().await;
                        turn
                    })
                    .await
                });
            }
            assert_eq!(all.join_all().await.len(), 3);
        });
        let log = log.lock().unwrap();
        let begins: Vec<_> =
            log.iter().filter(|(_, what)| *what == "begins").map(|(name, _)| *name).collect();
        assert_eq!(begins, ["a", "b", "c"], "{log:?}");
        let (last, first) = (
            log.iter().rposition(|(_, what)| *what == "begins"),
            log.iter().position(|(_, what)| *what == "ends"),
        );
        assert!(last < first, "one that waits has no turn: {log:?}");
        assert_eq!(turns.available_permits(), 1);
    }
}

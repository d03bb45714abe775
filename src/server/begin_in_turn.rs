//! Work that takes turns with that of others: each time that it can go on, or once, to begin.

use std::pin::{Pin, pin};
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

/// Completes as the work does, which begins in a turn. The turn is over once the work waits for something, and the work goes on
/// without one: whoever has begun to read a body finishes it, and its memory is for the next.
pub(super) async fn begin_in_turn<W: Future, T>(work: W, turn: impl Future<Output = T>) -> W::Output {
    let mut taken = Some(turn.await);
    let mut work = pin!(work);
    std::future::poll_fn(|context| {
        let _turn = taken.take();
        work.as_mut().poll(context)
    })
    .await
}

#[cfg(test)]
mod tests {
    use super::*;
    use axum::body::Body;
    use axum::response::Response;
    use hyper_util::rt::TokioIo;
    use std::convert::Infallible;
    use std::io::{Read, Write};
    use std::os::unix::net::UnixStream;
    use std::sync::atomic::{AtomicUsize, Ordering};
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

    const REQUESTS: usize = 12;

    /// Sends all requests at once, and goes away after as many answers.
    fn client(mut stream: UnixStream) -> String {
        stream.write_all("GET / HTTP/1.1\r\nhost: h\r\n\r\n".repeat(REQUESTS).as_bytes()).unwrap();
        let mut text = String::new();
        while text.matches("HTTP/1.1 200").count() < REQUESTS {
            let mut part = [0; 4096];
            let length = stream.read(&mut part).unwrap();
            assert_ne!(length, 0, "{text}");
            text.push_str(std::str::from_utf8(&part[..length]).unwrap());
        }
        text
    }

    #[test]
    fn others_have_a_turn_between_two_requests_of_a_connection() {
        let (ours, theirs) = UnixStream::pair().unwrap();
        ours.set_nonblocking(true).unwrap();
        let client = std::thread::spawn(|| client(theirs));
        let runtime = tokio::runtime::Builder::new_current_thread().enable_io().build().unwrap();
        let turns = Arc::new(AtomicUsize::new(0));
        let turn_of_others = {
            let turns = Arc::clone(&turns);
            async move {
                loop {
                    turns.fetch_add(1, Ordering::Relaxed);
                    tokio::task::yield_now().await;
                }
            }
        };
        // The turns of others before each request.
        let seen = Arc::new(Mutex::new(Vec::new()));
        let service = hyper::service::service_fn(|_| {
            let (seen, turns) = (Arc::clone(&seen), Arc::clone(&turns));
            let answer = async move {
                seen.lock().unwrap().push(turns.load(Ordering::Relaxed));
                Ok::<_, Infallible>(Response::new(Body::empty()))
            };
            begin_in_turn(answer, tokio::task::yield_now())
        });
        runtime.block_on(async {
            tokio::spawn(turn_of_others);
            let stream = TokioIo::new(tokio::net::UnixStream::from_std(ours).unwrap());
            hyper::server::conn::http1::Builder::new().serve_connection(stream, service).await.unwrap();
        });
        client.join().unwrap();
        let seen = seen.lock().unwrap();
        assert_eq!(seen.len(), REQUESTS);
        assert!(seen.windows(2).all(|pair| pair[0] < pair[1]), "{seen:?}");
    }
}

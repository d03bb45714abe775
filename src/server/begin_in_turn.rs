//! Work that takes turns with that of others to begin.

use std::pin::pin;
use std::task::Poll;

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

/// Completes as the work does. Each step of it has a turn of its own, as long as the next one takes much time; a step ends where
/// the work waits for something.
pub(super) async fn take_steps_in_turns<W: Future, F: Future>(
    work: W,
    wait_for_turn: impl Fn() -> F,
    is_next_step_long: impl Fn() -> bool,
) -> W::Output {
    let mut work = pin!(work);
    loop {
        let mut taken = Some(wait_for_turn().await);
        let step = std::future::poll_fn(|context| {
            let _turn = taken.take();
            Poll::Ready(work.as_mut().poll(context))
        });
        match step.await {
            Poll::Ready(output) => return output,
            Poll::Pending if is_next_step_long() => wait_until_woken().await,
            Poll::Pending => return work.await,
        }
    }
}

/// Completes when the task is polled again: what it waits for has come.
async fn wait_until_woken() {
    let mut polled = false;
    std::future::poll_fn(
        |_| if std::mem::replace(&mut polled, true) { Poll::Ready(()) } else { Poll::Pending },
    )
    .await;
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
    fn long_steps_have_turns_of_their_own() {
        // A message comes, and then another one; then no step is long.
        let (turns, steps) = (AtomicUsize::new(0), AtomicUsize::new(0));
        let work = async {
            for _ in 0..5 {
                steps.fetch_add(1, Ordering::Relaxed);
                tokio::task::yield_now().await;
            }
        };
        let turn = || async {
            turns.fetch_add(1, Ordering::Relaxed);
            tokio::task::yield_now().await;
            steps.load(Ordering::Relaxed)
        };
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        runtime.block_on(take_steps_in_turns(work, turn, || steps.load(Ordering::Relaxed) < 3));
        assert_eq!((turns.into_inner(), steps.into_inner()), (3, 5));
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

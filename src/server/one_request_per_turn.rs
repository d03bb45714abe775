//! Requests that a client sends together, without waiting for the answers.

/// Answers a request once other connections of the thread had their turn. hyper answers up to 16 requests of a connection
/// before it lets others go on (src/proto/h1/dispatch.rs, `poll_loop`), unless one is not ready at once. Clients of Kubernetes
/// wait for each answer; another client would multiply the time that a decision may take on this thread.
pub(super) async fn one_request_per_turn<T>(answer: impl Future<Output = T>) -> T {
    tokio::task::yield_now().await;
    answer.await
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
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};

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
        let seen = Arc::new(std::sync::Mutex::new(Vec::new()));
        let service = hyper::service::service_fn(|_| {
            let (seen, turns) = (Arc::clone(&seen), Arc::clone(&turns));
            one_request_per_turn(async move {
                seen.lock().unwrap().push(turns.load(Ordering::Relaxed));
                Ok::<_, Infallible>(Response::new(Body::empty()))
            })
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

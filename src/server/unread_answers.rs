//! Answers of a connection whose client does not take them. Their bytes stay in memory until the time for answers is over; if
//! memory runs out, the connection ends sooner.

use super::bytes_that_wait_for_clients::{BytesThatWaitForClients, WaitingBytes};
use super::fair_share_per_client_address::Size;
use std::io;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::task::Poll;
use tokio::sync::Notify;

/// What an answer has of the budget. hyper drops the bytes of an answer once it has written the last of them.
#[derive(Debug, Clone, Default)]
pub(super) struct ShareOfAnswer {
    /// Its share (bytes), and of which part.
    pub(super) share: (usize, Size),
    /// Whether the bytes are still there.
    pub(super) held: Weak<()>,
}

/// The answers of one connection that its client has not taken: a client may send further requests before it takes one.
#[derive(Debug)]
pub(super) struct UnreadAnswers {
    peer: IpAddr,
    all: Arc<BytesThatWaitForClients>,
    make_room: Arc<Notify>,
    answers: Mutex<Answers>,
}

#[derive(Debug, Default)]
struct Answers {
    shares: Vec<ShareOfAnswer>,
    written: usize,
    /// Only where the client is slow: most answers are written at once.
    waiting: Option<WaitingBytes>,
}

impl Answers {
    fn forget_those_that_are_dropped(&mut self) {
        self.shares.retain(|answer| answer.held.strong_count() > 0);
    }

    /// The share of all whose bytes are in memory; `None` without any.
    fn share(&mut self) -> Option<(usize, Size)> {
        self.forget_those_that_are_dropped();
        self.shares
            .iter()
            .map(|answer| answer.share)
            .reduce(|(all, of), (one, size)| (all + one, if size == Size::Large { size } else { of }))
    }
}

impl UnreadAnswers {
    pub(super) fn of_connection(peer: IpAddr, all: Arc<BytesThatWaitForClients>) -> Arc<Self> {
        Arc::new(Self { peer, all, make_room: Arc::default(), answers: Mutex::default() })
    }

    fn answers(&self) -> MutexGuard<'_, Answers> {
        self.answers.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// An answer is ready to be written.
    pub(super) fn record_answer_ready(&self, share: ShareOfAnswer) {
        let mut answers = self.answers();
        answers.forget_those_that_are_dropped();
        answers.shares.push(share);
    }

    /// So many bytes were written, or none could be.
    pub(super) fn record_write(&self, written: &Poll<io::Result<usize>>) {
        let mut answers = self.answers();
        let Some(share) = answers.share() else {
            answers.waiting = None;
            return;
        };
        if let Poll::Ready(Ok(bytes)) = written {
            answers.written = answers.written.saturating_add(*bytes);
        } else if answers.waiting.is_none() {
            answers.waiting = Some(self.all.add(self.peer, Arc::clone(&self.make_room)));
        }
        let written = answers.written;
        if let Some(waiting) = &mut answers.waiting {
            waiting.record_bytes(written, share);
        }
    }

    /// All bytes were written.
    pub(super) fn record_all_written(&self) {
        *self.answers() = Answers::default();
    }

    /// Completes when the answers have to make room.
    pub(super) async fn wait_until_asked_to_make_room(&self) {
        loop {
            self.make_room.notified().await;
            // The client may have taken some in between.
            if self.answers().waiting.as_ref().is_some_and(WaitingBytes::are_asked_to_make_room) {
                return;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::Ipv4Addr;
    use std::pin::pin;
    use std::task::{Context, Waker};
    use std::time::{Duration, Instant};

    const PEER: IpAddr = IpAddr::V4(Ipv4Addr::LOCALHOST);
    const SHARE: (usize, Size) = (500_000, Size::Large);

    fn is_asked(unread: &UnreadAnswers) -> bool {
        pin!(unread.wait_until_asked_to_make_room()).poll(&mut Context::from_waker(Waker::noop())).is_ready()
    }

    #[test]
    fn an_answer_that_nobody_takes_makes_room() {
        let all: Arc<BytesThatWaitForClients> = Arc::default();
        let later = Instant::now() + Duration::from_secs(1);
        let ask = || all.ask_at(later, Size::Large, None);
        let (bytes, unread) = (Arc::new(()), UnreadAnswers::of_connection(PEER, Arc::clone(&all)));
        let begin =
            || unread.record_answer_ready(ShareOfAnswer { share: SHARE, held: Arc::downgrade(&bytes) });
        begin();
        unread.record_write(&Poll::Ready(Ok(10_000)));
        assert!(!ask(), "the client takes it");
        // The answer to a request that came with the first one.
        unread.record_answer_ready(ShareOfAnswer::default());
        unread.record_write(&Poll::Pending);
        assert!(!is_asked(&unread) && ask());
        unread.record_write(&Poll::Pending);
        assert!(is_asked(&unread), "nothing was taken since");
        unread.record_all_written();
        // The connection waits for the question, and the client takes a part before it hears of it.
        begin();
        unread.record_write(&Poll::Pending);
        {
            let mut context = Context::from_waker(Waker::noop());
            let mut asked = pin!(unread.wait_until_asked_to_make_room());
            assert!(asked.as_mut().poll(&mut context).is_pending() && ask());
            unread.record_write(&Poll::Ready(Ok(20_000)));
            assert!(asked.as_mut().poll(&mut context).is_pending());
        }
        unread.record_all_written();
        // All is written before the connection hears of it.
        begin();
        unread.record_write(&Poll::Pending);
        assert!(ask());
        unread.record_all_written();
        assert!(!is_asked(&unread));
        // An answer of which no byte is in memory any more.
        begin();
        unread.record_write(&Poll::Pending);
        drop(bytes);
        unread.record_write(&Poll::Pending);
        assert!(!ask());
    }
}

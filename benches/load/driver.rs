//! Requests at a constant rate, whether or not the earlier ones are answered, from a client that keeps connections as an
//! API server does. Latency counts from the moment that the plan names: a server that stalls also delays the requests
//! behind the stalled one, and their wait is part of the figure.

use super::connection::{Answer, Broken, Connection, Endpoint};
use hdrhistogram::Histogram;
use std::io;
use std::sync::{Condvar, Mutex};
use std::thread::Scope;
use std::time::{Duration, Instant};

/// Idle connections that are kept (client-go transport/cache.go, `idleConnsPerHost`).
const IDLE: usize = 25;
/// An idle connection is closed after this time (apimachinery pkg/util/net/http.go, `SetTransportDefaults`).
const IDLE_TIME: Duration = Duration::from_secs(90);
/// The most requests in progress, above all that an API server has by default (400 + 200).
const THREADS: usize = 2048;

/// When requests are sent.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Plan {
    pub(crate) count: usize,
    /// Per second; `None`: all at once.
    pub(crate) rate: Option<f64>,
}

impl Plan {
    fn after(&self, number: usize) -> Duration {
        self.rate.map_or(Duration::ZERO, |rate| Duration::from_secs_f64(number as f64 / rate))
    }
}

/// A client with its open connections.
pub(crate) struct Client {
    endpoint: Endpoint,
    request: Vec<u8>,
    /// The most open connections; an API server has no limit.
    most: Option<usize>,
    pool: Mutex<Pool>,
    freed: Condvar,
}

#[derive(Default)]
struct Pool {
    idle: Vec<Connection>,
    open: usize,
    opened: usize,
}

/// The result of a plan. Times are in nanoseconds.
pub(crate) struct Outcome {
    /// From the planned moment to the end of the answer.
    pub(crate) latency: Histogram<u64>,
    /// From the planned moment until the client sends.
    pub(crate) late: Histogram<u64>,
    /// From the first planned moment to the last answer.
    pub(crate) took: Duration,
    /// Connections that were opened.
    pub(crate) opened: usize,
    /// Answers that are not 200 or that do not allow, and requests without an answer.
    pub(crate) failed: usize,
    pub(crate) first_failure: Option<String>,
    /// The length of an answer's body.
    pub(crate) answer: usize,
}

impl Outcome {
    fn new() -> Self {
        let histogram = || Histogram::new_with_bounds(1000, 120_000_000_000, 3).unwrap();
        Self {
            latency: histogram(),
            late: histogram(),
            took: Duration::ZERO,
            opened: 0,
            failed: 0,
            first_failure: None,
            answer: 0,
        }
    }

    fn add(&mut self, other: Self) {
        self.latency.add(&other.latency).unwrap();
        self.late.add(&other.late).unwrap();
        self.took = self.took.max(other.took);
        self.failed += other.failed;
        self.answer = self.answer.max(other.answer);
        self.first_failure = self.first_failure.take().or(other.first_failure);
    }
}

/// Who sends next. One thread waits for the planned moment, hands over to another, and then sends.
struct Turns {
    next: usize,
    leads: bool,
    waiting: usize,
    threads: usize,
}

struct Run<'c> {
    client: &'c Client,
    plan: Plan,
    begun: Instant,
    turns: Mutex<Turns>,
    free: Condvar,
    outcome: Mutex<Outcome>,
}

impl Client {
    pub(crate) fn new(endpoint: Endpoint, body: &[u8], most: Option<usize>) -> Self {
        let request = endpoint.request(body);
        Self { endpoint, request, most, pool: Mutex::default(), freed: Condvar::new() }
    }

    /// Sends all requests of a plan and waits for their answers.
    pub(crate) fn run(&self, plan: Plan) -> Outcome {
        let opened = self.pool.lock().unwrap().opened;
        let run = Run {
            client: self,
            plan,
            begun: Instant::now() + Duration::from_millis(2),
            turns: Mutex::new(Turns { next: 0, leads: false, waiting: 0, threads: 1 }),
            free: Condvar::new(),
            outcome: Mutex::new(Outcome::new()),
        };
        std::thread::scope(|scope| run.take_turns(scope));
        let mut outcome = run.outcome.into_inner().unwrap();
        outcome.opened = self.pool.lock().unwrap().opened - opened;
        outcome
    }

    fn send(&self, buffer: &mut Vec<u8>) -> io::Result<Answer> {
        loop {
            let mut connection = self.take()?;
            match connection.exchange(&self.request, buffer) {
                Ok(answer) => {
                    self.put((!answer.closes).then_some(connection));
                    return Ok(answer);
                }
                // The server closed an idle connection. Go sends such a request again (net/http transport.go,
                // `shouldRetryRequest`).
                Err(Broken { unanswered, .. }) if unanswered && connection.used => self.put(None),
                Err(Broken { error, .. }) => {
                    self.put(None);
                    return Err(error);
                }
            }
        }
    }

    /// The connection that became idle last, or a new one.
    fn take(&self) -> io::Result<Connection> {
        let mut pool = self.pool.lock().unwrap();
        loop {
            let before = pool.idle.len();
            pool.idle.retain(|connection| connection.since.elapsed() < IDLE_TIME);
            pool.open -= before - pool.idle.len();
            if let Some(connection) = pool.idle.pop() {
                return Ok(connection);
            }
            if self.most.is_none_or(|most| pool.open < most) {
                break;
            }
            pool = self.freed.wait(pool).unwrap();
        }
        pool.open += 1;
        pool.opened += 1;
        drop(pool);
        self.endpoint.connect().inspect_err(|_| self.put(None))
    }

    /// A connection that is free again, or that has ended.
    fn put(&self, connection: Option<Connection>) {
        let mut pool = self.pool.lock().unwrap();
        match connection {
            Some(mut connection) if pool.idle.len() < IDLE => {
                connection.since = Instant::now();
                pool.idle.push(connection);
            }
            _ => pool.open -= 1,
        }
        self.freed.notify_one();
    }
}

impl Run<'_> {
    fn take_turns<'s>(&'s self, scope: &'s Scope<'s, '_>) {
        precise_sleep();
        let (mut outcome, mut buffer) = (Outcome::new(), Vec::new());
        while let Some(number) = self.lead(scope) {
            let planned = self.begun + self.plan.after(number);
            std::thread::sleep(planned.saturating_duration_since(Instant::now()));
            self.hand_over();
            record(&mut outcome.late, planned.elapsed());
            let sent = self.client.send(&mut buffer);
            record(&mut outcome.latency, planned.elapsed());
            outcome.took = outcome.took.max(self.begun.elapsed());
            match sent {
                Ok(answer) if answer.status == 200 && answer.allows => {
                    outcome.answer = outcome.answer.max(answer.body);
                }
                sent => {
                    outcome.failed += 1;
                    let text = String::from_utf8_lossy(&buffer).chars().take(400).collect::<String>();
                    outcome.first_failure.get_or_insert(format!("{sent:?} {text}"));
                }
            }
        }
        self.outcome.lock().unwrap().add(outcome);
    }

    /// Waits until this thread is to send, and returns the number of its request. Behind a thread that leads there is
    /// always one that waits, unless there are too many.
    fn lead<'s>(&'s self, scope: &'s Scope<'s, '_>) -> Option<usize> {
        let mut turns = self.turns.lock().unwrap();
        while turns.leads && turns.next < self.plan.count {
            turns.waiting += 1;
            turns = self.free.wait(turns).unwrap();
            turns.waiting -= 1;
        }
        if turns.next >= self.plan.count {
            self.free.notify_all();
            return None;
        }
        let number = turns.next;
        turns.next += 1;
        turns.leads = true;
        if turns.waiting == 0
            && turns.next < self.plan.count
            && turns.threads < self.client.most.unwrap_or(THREADS).max(2)
        {
            turns.threads += 1;
            scope.spawn(|| self.take_turns(scope));
        }
        Some(number)
    }

    fn hand_over(&self) {
        self.turns.lock().unwrap().leads = false;
        self.free.notify_one();
    }
}

fn record(histogram: &mut Histogram<u64>, time: Duration) {
    histogram.saturating_record(u64::try_from(time.as_nanos()).unwrap_or(u64::MAX));
}

/// The kernel may end a sleep 50 us late, which is as long as a small request takes.
fn precise_sleep() {
    #[cfg(target_os = "linux")]
    let _ = rustix::thread::set_current_timer_slack(std::num::NonZeroU64::new(1));
}

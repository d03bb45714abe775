//! The driver of `benches/load`, for a second against servers that always give the same answer.

use crate::support::Scratch;
use crate::support::server::{bare_pod, certificate, review};
use crate::support::suite::{Outcome, Suite};
use connection::Endpoint;
use driver::{Client, Plan};
use layer::{Runtime, Work};
use std::sync::mpsc;
use std::time::Duration;

#[path = "../../../benches/load/connection.rs"]
mod connection;
#[path = "../../../benches/load/driver.rs"]
mod driver;
#[path = "../../../benches/load/layer.rs"]
mod layer;

pub(crate) fn add(suite: &mut Suite) {
    suite.add("load_driver::fifty_requests_a_second_are_sent_as_planned", || {
        at_a_rate(Work::Nothing, Runtime::Shared)
    });
    suite.add("load_driver::the_layer_that_reads_pods_reads_them", || at_a_rate(Work::Parse, Runtime::Cores));
    suite.add("load_driver::a_burst_uses_as_many_connections_as_it_may", burst);
}

const ANSWER: usize = 2000;

fn client(work: Work, runtime: Runtime, most: Option<usize>) -> Result<(Client, Scratch), String> {
    let scratch = Scratch::new()?;
    certificate(scratch.path())?;
    let (sender, receiver) = mpsc::channel();
    let directory = scratch.path().to_owned();
    std::thread::spawn(move || {
        layer::serve(work, runtime, 2, layer::constant_answer(ANSWER), &directory, |address| {
            let _ = sender.send(address);
        });
    });
    let address = receiver.recv_timeout(Duration::from_secs(10)).map_err(|e| e.to_string())?;
    let url = format!("https://localhost:{}/mutate", address.port());
    let endpoint = Endpoint::new(&url, &scratch.path().join("ca.crt"))?;
    let body = review("u", ("", "Pod"), "CREATE", &bare_pod()).to_string();
    Ok((Client::new(endpoint, body.as_bytes(), most), scratch))
}

fn at_a_rate(work: Work, runtime: Runtime) -> Outcome {
    let (client, _scratch) = client(work, runtime, None)?;
    let outcome = client.run(Plan { count: 50, rate: Some(50.0) });
    let sent = (outcome.latency.len(), outcome.late.len(), outcome.failed, outcome.answer);
    if sent != (50, 50, 0, ANSWER) {
        return Err(format!("{sent:?} {:?}", outcome.first_failure).into());
    }
    // The last request is planned 0.98 s after the first.
    if !(0.98..5.0).contains(&outcome.took.as_secs_f64()) {
        return Err(format!("took {:?}", outcome.took).into());
    }
    let again = client.run(Plan { count: 5, rate: Some(50.0) });
    if again.failed > 0 || again.opened > outcome.opened + 5 || outcome.opened == 0 {
        return Err(format!("{} and {} connections", outcome.opened, again.opened).into());
    }
    Ok(())
}

fn burst() -> Outcome {
    let (client, _scratch) = client(Work::Nothing, Runtime::Shared, Some(5))?;
    let outcome = client.run(Plan { count: 100, rate: None });
    let sent = (outcome.latency.len(), outcome.failed, outcome.opened);
    if sent == (100, 0, 5) { Ok(()) } else { Err(format!("{sent:?} {:?}", outcome.first_failure).into()) }
}

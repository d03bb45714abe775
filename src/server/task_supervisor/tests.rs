use super::*;
use crate::server::certificate_source_and_file_reload;
use axum::http::StatusCode;
use std::sync::atomic::{AtomicU32, Ordering};

const SHORT: Duration = Duration::from_millis(20);

/// A supervisor, and who stops it.
fn supervisor() -> (Supervisor, Arc<State>, watch::Sender<Stop>) {
    let (state, (sender, stop)) = (Arc::new(State::bare()), watch::channel(Stop::No));
    let mut supervisor = Supervisor::new(Arc::clone(&state), stop);
    supervisor.context.healthy = SHORT * 5;
    supervisor.context.patience = SHORT * 5;
    (supervisor, state, sender)
}

async fn until(what: impl Fn() -> bool) {
    let seen = async {
        while !what() {
            sleep(Duration::from_millis(1)).await;
        }
    };
    timeout(Duration::from_secs(10), seen).await.unwrap();
}

fn failures(state: &State, name: &str) -> u32 {
    let text = state.metrics.text_for_scrape();
    let start = format!("fabric_admission_task_failures_total{{task=\"{name}\"}} ");
    text.lines().find_map(|line| line.strip_prefix(&start)).unwrap().parse().unwrap()
}

/// Fails as often as it is to, then runs on.
async fn fails(starts: Arc<AtomicU32>, times: u32, how: &'static str) {
    if starts.fetch_add(1, Ordering::SeqCst) < times {
        assert!(how != "panicked", "a bug");
        return;
    }
    std::future::pending().await
}

#[tokio::test]
async fn a_task_that_panics_or_ends_starts_again_and_is_shown_until_it_is_healthy() {
    for how in ["panicked", "ended"] {
        let (mut supervisor, state, _sender) = supervisor();
        let starts = Arc::new(AtomicU32::new(0));
        let starting = Arc::clone(&starts);
        supervisor.start_on_this_runtime(
            Task::new("files", "nothing is loaded").with_first_pause(SHORT),
            move || fails(Arc::clone(&starting), 3, how),
        );
        let line = || state.failed.lines().concat();
        until(|| {
            line()
                == format!(
                    "task \"files\" {how} (failure 1 in a row): nothing is loaded; the server restarts the task within \
                     0.02 s. {BUG}"
                )
        })
        .await;
        until(|| line() == format!("task \"files\" {how} (failure 3 in a row) and was restarted. {BUG}"))
            .await;
        assert_eq!((starts.load(Ordering::SeqCst), failures(&state, "files")), (4, 3));
        let (status, text) = crate::server::readyz::readiness(&state);
        assert_eq!((status, text), (StatusCode::OK, format!("ok\n{}", line())));
        until(|| line().is_empty()).await;
        assert_eq!(starts.load(Ordering::SeqCst), 4);
    }
}

#[tokio::test]
async fn a_task_that_cannot_start_again_stays_shown() {
    let (mut supervisor, state, _sender) = supervisor();
    supervisor.start_on_this_runtime(
        Task::new("log", "the server writes no log lines").without_restart(),
        async || {},
    );
    until(|| !state.failed.lines().is_empty()).await;
    sleep(SHORT * 10).await;
    assert_eq!(state.failed.lines(), ["task \"log\" ended: the server writes no log lines. Restart the pod"]);
    assert_eq!(failures(&state, "log"), 1);
}

#[tokio::test]
async fn a_task_that_works_has_no_failures() {
    let (mut supervisor, state, sender) = supervisor();
    let stop = sender.subscribe();
    supervisor.start_on_this_runtime(Task::new("admin", ""), std::future::pending);
    supervisor.start_task_that_ends_itself(Task::new("statuses", ""), move || {
        let mut stop = stop.clone();
        async move { drop(stop.changed().await) }
    });
    until(|| state.metrics.text_for_scrape().contains("task=\"statuses\"")).await;
    sender.send(Stop::Drain).unwrap();
    assert_eq!(supervisor.wait_then_abort_all_tasks().await, Vec::<String>::new());
    assert_eq!((failures(&state, "admin"), failures(&state, "statuses")), (0, 0));
    assert!(state.failed.lines().is_empty());
}

#[tokio::test]
async fn a_task_that_is_slow_to_stop_is_aborted_after_the_others_were_waited_for() {
    let (mut supervisor, _state, sender) = supervisor();
    let works = Arc::new(());
    let holding = Arc::clone(&works);
    supervisor.start_on_this_runtime(Task::new("watch Node", ""), move || {
        let holding = Arc::clone(&holding);
        async move {
            std::future::pending::<()>().await;
            drop(holding);
        }
    });
    let (seen, looking) = (Arc::new(AtomicU32::new(0)), Arc::downgrade(&works));
    let (seeing, stop) = (Arc::clone(&seen), sender.subscribe());
    supervisor.start_task_that_ends_itself(Task::new("gives back", ""), move || {
        let (seeing, looking, mut stop) = (Arc::clone(&seeing), looking.clone(), stop.clone());
        async move {
            let _ = stop.changed().await;
            sleep(SHORT).await;
            // This test, the closure that starts the other task, and the other task itself.
            seeing.store(u32::try_from(looking.strong_count()).unwrap(), Ordering::SeqCst);
        }
    });
    supervisor.start_task_that_ends_itself(Task::new("slow", ""), std::future::pending);
    sleep(SHORT).await;
    sender.send(Stop::Drain).unwrap();
    let began = Instant::now();
    assert_eq!(supervisor.wait_then_abort_all_tasks().await, ["slow"]);
    assert!(began.elapsed() < Duration::from_secs(2), "{:?}", began.elapsed());
    assert_eq!((seen.load(Ordering::SeqCst), Arc::strong_count(&works)), (3, 1));
}

#[tokio::test]
async fn without_its_listener_the_server_ends() {
    let (supervisor, _state, sender) = supervisor();
    let panics = supervisor.run_essential_task("listener", async { panic!("a bug") }).await;
    let text = format!("task \"listener\" panicked, and the server cannot run without this task. {BUG}");
    assert_eq!(panics.unwrap_err().to_string(), text);
    assert!(supervisor.run_essential_task("listener", async {}).await.is_err());
    sender.send(Stop::Drain).unwrap();
    assert!(supervisor.run_essential_task("listener", async {}).await.is_ok());
}

#[tokio::test]
async fn a_certificate_that_nobody_renews_ends_readiness_by_its_dates() {
    let mut state = State::bare();
    state.expiry = crate::certificate_keeper::DatesOfServedCertificate::of_age(72 * 3600);
    assert_eq!(crate::server::readyz::readiness(&state).0, StatusCode::OK, "its task judges the dates");
    state.failed.set(certificate_source_and_file_reload::TASK, "task \"certificates\" panicked".to_owned());
    let (status, text) = crate::server::readyz::readiness(&state);
    assert_eq!(status, StatusCode::SERVICE_UNAVAILABLE);
    assert!(text.starts_with("certificates: the certificate has expired or expires soon"), "{text}");
    state.expiry = crate::certificate_keeper::DatesOfServedCertificate::of_age(3600);
    assert_eq!(crate::server::readyz::readiness(&state).0, StatusCode::OK);
}

#[tokio::test]
async fn blocking_work_panics_as_its_task() {
    assert_eq!(run_blocking_and_pass_on_panic(|| 7).await, Some(7));
    let mut tasks = JoinSet::new();
    tasks.spawn(async { run_blocking_and_pass_on_panic(|| panic!("a bug")).await });
    assert!(tasks.join_next().await.unwrap().unwrap_err().is_panic());
}

#[test]
fn pauses_double_and_end_at_five_minutes() {
    let mut pause = Duration::from_secs(10);
    let seconds = std::iter::repeat_with(|| {
        pause = longer(pause);
        pause.as_secs()
    });
    assert_eq!(seconds.take(6).collect::<Vec<_>>(), [20, 40, 80, 160, 300, 300]);
    assert_eq!(longer(Duration::from_secs(600)), Duration::from_secs(600));
}

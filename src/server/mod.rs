//! The webhook server: an accept loop with its own deadlines, TLS that reloads, a router, an admin port, supervised
//! background tasks, and an orderly end. Only what serves requests: the API server is watched in `cluster`,
//! and the decision on a request is `review::decide_webhook_request`.

mod accept_loop;
mod admin_port;
mod admin_thread;
mod api_server_timeout;
mod audience_by_client_certificates;
mod background_tasks;
mod client_address_and_connection;
mod concurrent_requests_and_decisions;
mod connection_age;
mod connection_deadlines;
mod decide_and_catch_panic;
mod decision_log;
mod decision_threads;
mod decoded_size;
mod default_limits_and_deadlines;
mod failed_tasks;
mod file_descriptors;
mod http_answers;
mod memory_of_request_bodies;
mod metrics;
mod metrics_written_once_for_all_scrapes;
mod one_request_per_turn;
mod open_connections;
mod readyz;
mod reload_certificate;
mod reload_client_ca;
mod reload_fact_files;
mod request_body;
mod routes;
mod run;
mod server_settings;
mod share_of_requests_and_body_bytes;
mod shared_state;
mod stop_signals;
mod task_supervisor;
mod which_connection_closes;
mod which_thread;

pub use decision_log::LogDecisions;
pub use decoded_size::DecodedSize;
pub use default_limits_and_deadlines::Limits;
pub use metrics::{Metrics, RESULTS, RequestResult};
pub use reload_fact_files::{Look, Source};
pub use run::{RunError, run};
pub use server_settings::{Certificate, Facts, Live, Settings, StatusWriter};
pub(crate) use shared_state::State;
pub(crate) use stop_signals::Stop;
pub use task_supervisor::TaskError;

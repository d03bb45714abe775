//! The webhook server: an accept loop with its own deadlines, TLS that reloads, a router, an admin port, supervised
//! background tasks, and an orderly end. Only what serves requests: the API server is watched in `cluster`,
//! and the decision on a request is `review::decide_webhook_request`.

mod accept_loop;
mod admin_port;
mod api_server_timeout;
mod audience_by_client_certificates;
mod background_tasks;
mod begin_in_turn;
mod body_bytes_within_budget;
mod budgets_for_requests_and_bytes;
mod certificate_source_and_file_reload;
mod client_address_and_connection;
mod connection_activity_and_slow_clients;
mod connection_age;
mod decide_and_catch_panic;
mod decision_log;
mod decision_threads;
mod default_limits_and_deadlines;
mod estimate_memory_of_decision;
mod failed_tasks;
mod fair_share_per_client_address;
mod fair_share_per_namespace;
mod fair_turns_of_addresses;
mod file_descriptors;
mod framing_of_bodies;
mod http_answers;
mod listener;
mod metrics;
mod metrics_written_once_for_all_scrapes;
mod namespace_of_body;
mod open_connections;
mod own_thread;
mod readyz;
mod reload_client_ca;
mod reload_fact_files;
mod request_body;
mod routes;
mod run;
mod server_settings;
mod shared_state;
mod stop_signals;
mod task_supervisor;
mod tls_records_without_data;
mod turns_of_decisions_and_handshakes;
mod which_connection_closes;
mod which_thread;

pub use decision_log::LogDecisions;
pub use default_limits_and_deadlines::Limits;
pub use estimate_memory_of_decision::DecisionMemoryEstimate;
pub use metrics::{Metrics, RESULTS, RequestResult};
pub use reload_fact_files::{FactFileSource, FileCheck};
pub use run::{RunError, run};
pub use server_settings::{Certificate, Facts, Live, Settings, StatusWriter};
pub(crate) use shared_state::State;
pub(crate) use stop_signals::Stop;
pub use task_supervisor::TaskError;

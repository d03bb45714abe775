//! A Lease: it elects the replica that does what only one should do.
//!
//! Acquired and renewed by compare-and-swap on `resourceVersion`: of two concurrent writes the API server accepts one.
//! Our own clock decides whether another's lease has run out, from the last change that we saw; clocks of
//! different nodes are never compared (as in client-go tools/leaderelection/leaderelection.go).

use super::call_deadline_and_failure_text::CallFault;
use k8s_openapi::api::coordination::v1::{Lease as Object, LeaseSpec};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::MicroTime;
use k8s_openapi::jiff::Timestamp;
use kube::api::{Api, ObjectMeta, PostParams};
use std::time::{Duration, Instant};

/// How long a lease counts after it was last renewed (seconds).
const LASTS: u32 = 15;
/// Age at which ours is renewed. With the deadline of one call it stays below `LASTS`, so that what is begun under a
/// lease ends under it.
const RENEW_AFTER: Duration = Duration::from_secs(4);
/// Age at which we give up our lease if it cannot be renewed (client-go's renew deadline).
const GIVEN_UP: Duration = Duration::from_secs(10);

/// A lease that this replica holds or waits for.
pub(super) struct Lease {
    api: Api<Object>,
    name: &'static str,
    identity: String,
    /// Another's: its version, and when that was first seen.
    seen: Option<(String, Instant)>,
    /// Ours as it was written, and when the writing began.
    held: Option<(Object, Instant)>,
}

impl Lease {
    pub(super) fn new(client: kube::Client, namespace: &str, name: &'static str, identity: String) -> Self {
        Self { api: Api::namespaced(client, namespace), name, identity, seen: None, held: None }
    }

    /// Acquires the lease if it is free, and renews it if that is due. Returns whether this replica holds it.
    pub(super) async fn acquire_or_renew(&mut self) -> Result<bool, CallFault> {
        let Some((ours, renewed)) = &self.held else { return self.acquire_if_free().await };
        let age = renewed.elapsed();
        if age < RENEW_AFTER {
            return Ok(true);
        }
        let ours = ours.clone();
        let done = self.write(ours).await;
        if !matches!(done, Ok(true)) && (age >= GIVEN_UP || done.is_ok()) {
            self.held = None;
        }
        done
    }

    async fn acquire_if_free(&mut self) -> Result<bool, CallFault> {
        let Some(found) = CallFault::await_with_deadline(self.api.get_opt(self.name)).await? else {
            let metadata = ObjectMeta { name: Some(self.name.to_owned()), ..ObjectMeta::default() };
            return self.write(Object { metadata, spec: None }).await;
        };
        let spec = found.spec.as_ref();
        let holder = spec.and_then(|s| s.holder_identity.as_deref()).unwrap_or_default();
        if !holder.is_empty() && holder != self.identity {
            let version = found.metadata.resource_version.clone().unwrap_or_default();
            let lasts = spec.and_then(|s| u64::try_from(s.lease_duration_seconds?).ok());
            // Whoever may write the lease may also keep us from it, but not by a number.
            let lasts = Duration::from_secs(lasts.unwrap_or(LASTS.into()).min(60));
            match &self.seen {
                Some((known, at)) if *known == version && at.elapsed() >= lasts => {}
                Some((known, _)) if *known == version => return Ok(false),
                _ => {
                    self.seen = Some((version, Instant::now()));
                    return Ok(false);
                }
            }
        }
        self.write(found).await
    }

    /// Writes the lease as ours over `found`. Returns whether no other writer was faster.
    async fn write(&mut self, mut found: Object) -> Result<bool, CallFault> {
        let began = Instant::now();
        let now = MicroTime(Timestamp::now());
        let before = found.spec.take().unwrap_or_default();
        let ours = before.holder_identity.as_ref() == Some(&self.identity);
        let transitions = before.lease_transitions.unwrap_or_default();
        found.spec = Some(LeaseSpec {
            acquire_time: if ours { before.acquire_time.clone() } else { Some(now.clone()) },
            holder_identity: Some(self.identity.clone()),
            lease_duration_seconds: i32::try_from(LASTS).ok(),
            lease_transitions: Some(if ours { transitions } else { transitions.saturating_add(1) }),
            renew_time: Some(now),
            ..before
        });
        let params = PostParams::default();
        let done = match found.metadata.resource_version {
            None => CallFault::await_with_deadline(self.api.create(&params, &found)).await,
            Some(_) => CallFault::await_with_deadline(self.api.replace(self.name, &params, &found)).await,
        };
        match done {
            Ok(written) => {
                self.held = Some((written, began));
                self.seen = None;
                Ok(true)
            }
            Err(fault) if fault.http_status() == Some(409) => Ok(false),
            Err(fault) => Err(fault),
        }
    }

    /// Gives the lease up, so that another replica need not wait for its end. It is read again first, because the last
    /// renewal may have been interrupted.
    pub(super) async fn release(&mut self) -> Result<(), CallFault> {
        if self.held.take().is_none() {
            return Ok(());
        }
        let Some(mut found) = CallFault::await_with_deadline(self.api.get_opt(self.name)).await? else {
            return Ok(());
        };
        let Some(spec) = found.spec.as_mut() else { return Ok(()) };
        if spec.holder_identity.as_ref() != Some(&self.identity) {
            return Ok(());
        }
        spec.holder_identity = None;
        CallFault::await_with_deadline(self.api.replace(self.name, &PostParams::default(), &found))
            .await
            .map(drop)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use http_body_util::BodyExt;
    use kube::client::Body;
    use serde_json::{Value, json};
    use std::sync::{Arc, Mutex};

    /// An API server with room for one Lease, which compares and swaps.
    #[derive(Clone, Default)]
    struct Store(Arc<Mutex<Option<Value>>>);

    impl Store {
        async fn answer(self, request: http::Request<Body>) -> Result<http::Response<Body>, std::io::Error> {
            let method = request.method().clone();
            let body = request.into_body().collect().await.unwrap().to_bytes();
            let mut stored = self.0.lock().unwrap();
            let version = |of: &Value| of["metadata"]["resourceVersion"].as_str().map(str::to_owned);
            let (code, answer) = match (method.as_str(), stored.as_ref()) {
                ("GET", Some(lease)) => (200, lease.clone()),
                ("GET" | "PUT", None) => (404, Value::Null),
                ("POST", Some(_)) => (409, Value::Null),
                _ => {
                    let mut lease: Value = serde_json::from_slice(&body).unwrap();
                    let before = stored.as_ref().and_then(version);
                    if version(&lease) == before {
                        let next = before.map_or(1, |v| v.parse::<u64>().unwrap() + 1);
                        lease["metadata"]["resourceVersion"] = json!(next.to_string());
                        *stored = Some(lease.clone());
                        (200, lease)
                    } else {
                        (409, Value::Null)
                    }
                }
            };
            let reason = if code == 404 { "NotFound" } else { "Conflict" };
            let status =
                json!({"kind": "Status", "status": "Failure", "code": code, "message": "", "reason": reason});
            let body = if code == 200 { answer } else { status };
            Ok(http::Response::builder()
                .status(code)
                .body(Body::from(body.to_string().into_bytes()))
                .unwrap())
        }

        fn lease(&self, identity: &str) -> Lease {
            let store = self.clone();
            let client = kube::Client::new(tower::service_fn(move |r| store.clone().answer(r)), "ours");
            Lease::new(client, "ours", "l", identity.to_owned())
        }

        fn spec(&self) -> Value {
            self.0.lock().unwrap().as_ref().unwrap()["spec"].clone()
        }
    }

    #[tokio::test]
    async fn one_of_two_holds_it_until_it_lets_go() {
        let store = Store::default();
        let (mut a, mut b) = (store.lease("a"), store.lease("b"));
        assert!(
            a.acquire_or_renew().await.unwrap()
                && !b.acquire_or_renew().await.unwrap()
                && a.acquire_or_renew().await.unwrap()
        );
        // A second read does not show that it has run out.
        assert!(!b.acquire_or_renew().await.unwrap());
        assert_eq!(
            (&store.spec()["holderIdentity"], &store.spec()["leaseTransitions"]),
            (&json!("a"), &json!(1))
        );
        b.release().await.unwrap();
        assert_eq!(store.spec()["holderIdentity"], "a");
        a.release().await.unwrap();
        assert!(b.acquire_or_renew().await.unwrap() && !a.acquire_or_renew().await.unwrap());
        assert_eq!(
            (&store.spec()["holderIdentity"], &store.spec()["leaseTransitions"]),
            (&json!("b"), &json!(2))
        );
    }

    #[tokio::test]
    async fn one_that_is_not_renewed_in_time_goes_to_who_waits() {
        let store = Store::default();
        let (mut a, mut b) = (store.lease("a"), store.lease("b"));
        assert!(a.acquire_or_renew().await.unwrap() && !b.acquire_or_renew().await.unwrap());
        let long = Duration::from_secs(u64::from(LASTS) + 1);
        let back = |at: Instant| at.checked_sub(long).unwrap();
        b.seen = b.seen.map(|(version, at)| (version, back(at)));
        assert!(b.acquire_or_renew().await.unwrap());
        // The first has slept meanwhile, and finds that it was overtaken.
        a.held = a.held.map(|(object, at)| (object, back(at)));
        assert!(!a.acquire_or_renew().await.unwrap() && a.held.is_none());
        // A restart under the same name need not wait.
        assert!(store.lease("b").acquire_or_renew().await.unwrap());
    }

    #[tokio::test]
    async fn a_renewal_between_two_looks_starts_the_wait_anew() {
        let store = Store::default();
        let (mut a, mut b) = (store.lease("a"), store.lease("b"));
        assert!(a.acquire_or_renew().await.unwrap() && !b.acquire_or_renew().await.unwrap());
        b.seen = b.seen.map(|(version, at)| (version, at.checked_sub(Duration::from_secs(16)).unwrap()));
        a.held = a.held.map(|(object, at)| (object, at.checked_sub(RENEW_AFTER).unwrap()));
        assert!(a.acquire_or_renew().await.unwrap() && !b.acquire_or_renew().await.unwrap());
        assert_eq!(store.spec()["holderIdentity"], "a");
    }
}

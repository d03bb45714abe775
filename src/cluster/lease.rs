//! A Lease: which of several replicas does what one alone should do.
//!
//! Taken and renewed by compare-and-swap on `resourceVersion`: of two who write at once the API server takes one.
//! Whether another's lease has run out is told by our own clock, from when it was last seen to change; clocks of
//! different nodes are never compared (as in client-go tools/leaderelection/leaderelection.go).

use super::status::Fault;
use k8s_openapi::api::coordination::v1::{Lease as Object, LeaseSpec};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::MicroTime;
use k8s_openapi::jiff::Timestamp;
use kube::api::{Api, ObjectMeta, PostParams};
use std::time::{Duration, Instant};

/// How long a lease counts after it was last renewed (seconds).
const LASTS: u32 = 15;
/// Age at which ours is renewed. With the deadline of one call it stays below `LASTS`, so that what is begun under a
/// lease ends under it.
const FRESH: Duration = Duration::from_secs(4);
/// Age at which ours is given up where it cannot be renewed (client-go's renew deadline).
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

    /// Takes the lease where it is free, and renews it where that is due. Whether it is ours.
    pub(super) async fn hold(&mut self) -> Result<bool, Fault> {
        let Some((ours, renewed)) = &self.held else { return self.acquire().await };
        let age = renewed.elapsed();
        if age < FRESH {
            return Ok(true);
        }
        let ours = ours.clone();
        let done = self.write(ours).await;
        if !matches!(done, Ok(true)) && (age >= GIVEN_UP || done.is_ok()) {
            self.held = None;
        }
        done
    }

    async fn acquire(&mut self) -> Result<bool, Fault> {
        let Some(found) = Fault::of(self.api.get_opt(self.name)).await? else {
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

    /// Writes the lease as ours over `found`; whether nobody was faster.
    async fn write(&mut self, mut found: Object) -> Result<bool, Fault> {
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
            None => Fault::of(self.api.create(&params, &found)).await,
            Some(_) => Fault::of(self.api.replace(self.name, &params, &found)).await,
        };
        match done {
            Ok(written) => {
                self.held = Some((written, began));
                self.seen = None;
                Ok(true)
            }
            Err(fault) if fault.code() == Some(409) => Ok(false),
            Err(fault) => Err(fault),
        }
    }

    /// Gives the lease up, so that another need not wait for its end. It is read again first: the last renewal may have
    /// been broken off.
    pub(super) async fn release(&mut self) -> Result<(), Fault> {
        if self.held.take().is_none() {
            return Ok(());
        }
        let Some(mut found) = Fault::of(self.api.get_opt(self.name)).await? else { return Ok(()) };
        let Some(spec) = found.spec.as_mut() else { return Ok(()) };
        if spec.holder_identity.as_ref() != Some(&self.identity) {
            return Ok(());
        }
        spec.holder_identity = None;
        Fault::of(self.api.replace(self.name, &PostParams::default(), &found)).await.map(drop)
    }
}

//! Maximum age of a connection. A Service balances connections, not requests: if connections never end, a replica that
//! starts later gets no calls from an API server that has enough connections already.

use std::hash::{BuildHasher, Hasher, RandomState};
use std::time::Duration;

/// The age at which the next answer of a connection closes it; zero means no maximum. It varies by up to a tenth, so that
/// connections that were opened together do not end together (as in grpc-go internal/transport/http2_server.go,
/// `MaxConnectionAge`).
pub(super) fn age_that_closes_connection(age: Duration) -> Duration {
    // Keys are random for each.
    spread(age, RandomState::new().build_hasher().finish())
}

fn spread(age: Duration, random: u64) -> Duration {
    if age.is_zero() {
        return Duration::MAX;
    }
    let thousandths = u32::try_from(random % 201).unwrap_or_default() + 900;
    age.saturating_mul(thousandths) / 1000
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ages_are_spread_by_a_tenth() {
        let age = Duration::from_secs(600);
        let ages: Vec<u64> = (0..2010).map(|random| spread(age, random).as_millis() as u64).collect();
        assert_eq!((ages.iter().min(), ages.iter().max()), (Some(&540_000), Some(&660_000)));
        assert_eq!(spread(Duration::ZERO, 7), Duration::MAX);
        let drawn: std::collections::HashSet<Duration> =
            (0..50).map(|_| age_that_closes_connection(age)).collect();
        assert!(drawn.len() > 10, "{} of 50 differ", drawn.len());
    }
}

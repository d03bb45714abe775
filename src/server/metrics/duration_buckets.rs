//! The buckets of the histogram of request durations.

/// Upper bounds in seconds. A decision takes tens of microseconds; the API server's own histogram starts at 5 ms.
pub(super) const BUCKETS: [f64; 14] =
    [0.000_05, 0.000_1, 0.000_2, 0.000_5, 0.001, 0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1.0, 5.0];

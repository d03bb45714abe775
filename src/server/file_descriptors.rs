//! File descriptors: one per allowed connection. Without a free one the server accepts nothing, not even a probe, and
//! cannot close a connection to make room, since it does that only for a connection that it has accepted. The limit of a
//! container varies: under systemd's defaults, which containerd 2.0 does not change, it is 1,024 (soft) and 524,288 (hard).

use super::default_limits_and_deadlines::Limits;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// For everything but connections of the webhook port: those of the admin port, watches, calls to the API server, files,
/// the runtime's own, and connections that are being closed.
const OTHERS: u64 = 512;

/// The same where there are few: 64 of the admin port, a connection for each watch, and room.
const LEAST_OTHERS: u64 = 160;

/// Raises the limit of the process to the need of these limits, as Go does for every program (os/rlimit.go). If the system
/// refuses, the server accepts fewer connections.
pub(super) fn raise_open_files_or_lower_connections(limits: Limits) -> Limits {
    let rlimit = getrlimit(Resource::Nofile);
    let needed = needed(&limits);
    let mut there = rlimit.current.unwrap_or(u64::MAX);
    let wanted = rlimit.maximum.map_or(needed, |most| most.min(needed));
    if there < wanted {
        match setrlimit(Resource::Nofile, Rlimit { current: Some(wanted), maximum: rlimit.maximum }) {
            Ok(()) => there = wanted,
            Err(error) => {
                tracing::warn!(%error, there, wanted, "could not raise the open-files limit of the process")
            }
        }
    }
    let within = within(limits, there);
    if within.connections < limits.connections {
        tracing::warn!(
            open_files = there,
            needed,
            connections = within.connections,
            connections_per_peer = within.connections_per_peer,
            "the open-files limit is too low for --max-connections, so the server accepts fewer connections; raise the \
             hard limit (ulimit -Hn) in the container runtime"
        );
    }
    within
}

/// A connection that makes room for another one has its descriptor until its task ends, so there may be as many again.
fn needed(limits: &Limits) -> u64 {
    u64::try_from(limits.connections).unwrap_or(u64::MAX).saturating_mul(2).saturating_add(OTHERS)
}

/// Connections for which these descriptors are enough. One address gets the same part of them as before, and at most half
/// if there are few.
fn within(limits: Limits, there: u64) -> Limits {
    let others = (there / 2).clamp(LEAST_OTHERS, OTHERS);
    let room = usize::try_from(there.saturating_sub(others).max(1)).unwrap_or(usize::MAX);
    if room >= limits.connections {
        return limits;
    }
    let per_peer = limits.connections_per_peer.saturating_mul(room) / limits.connections;
    Limits { connections: room, connections_per_peer: per_peer.max(1), ..limits }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn connections_are_as_many_as_there_are_descriptors_for() {
        let limits = Limits::default();
        assert_eq!(needed(&limits), 2 * 1024 + 512);
        let at = |there| {
            let within = within(limits, there);
            (within.connections, within.connections_per_peer)
        };
        assert_eq!(at(u64::MAX), (1024, 640));
        assert_eq!(at(1536), (1024, 640));
        assert_eq!(at(1535), (1023, 639));
        assert_eq!(at(1024), (512, 320));
        assert_eq!(at(200), (40, 25));
        assert_eq!(at(100), (1, 1));
    }
}

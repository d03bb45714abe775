//! docs/monitor.md.

use super::other_metrics::OTHERS;
use super::which_counters_become_metrics::{COUNTERS, PortCounter};
use std::fmt::Write;

const HEAD: &str = "# monitor

<!-- Generated from src/engine/monitor by `just docs`; a test keeps it current. -->

For operators who want the counters of a pod's RDMA devices, and who want to know which transport a training job really
uses. `fabric-admission monitor` runs beside the training container, reads a fixed list of files at each scrape, and
serves metrics for Prometheus. The monitor needs no privilege, no token and no RDMA resource.

```
fabric-admission monitor --listen :9406
fabric-admission monitor --listen :9406 --facts /fabric/facts.json --nccl-log /var/log/nccl
fabric-admission monitor --listen :9406 --ras-port 28028 --rank-index 0
```

`:9406` listens on all addresses; on a node without IPv6, the monitor listens on 0.0.0.0.

`GET /metrics` returns the metrics, and `GET /healthz` answers with status 200. SIGTERM ends the process at once. If a
file is missing or cannot be read, its metrics are absent, and not 0. The monitor counts the files that exist but cannot
be read, and the devices that disappeared. The log has one line with the reason for each unreadable file and each device
that disappeared.

| flag | effect |
| --- | --- |
| `--facts FILE` | the file that `preflight` wrote. The monitor exports only the devices in `FILE`, because in shared mode a pod sees all devices of its node. If preflight found no device, the monitor exports no device |
| `--expect-transport NAME` | the transport of the profile, such as `roce` or `ethernet`; default: the transport in the facts |
| `--nccl-log DIR` | the folder with the NCCL logs of one container (`NCCL_DEBUG_FILE`); [verify-log.md](verify-log.md) explains NCCL's logs |
| `--ras-port PORT` | port of NCCL's RAS, usually 28028; without `--ras-port`, the monitor does not ask RAS |
| `--ras-timeout SECONDS` | time for an answer of RAS at each address, 1 to 30; default: 15 |
| `--rank-index INDEX` | index or role of the pod in its job; repeatable. The monitor asks RAS only if every non-empty value is `0` or `master`. At least one value must be non-empty. Without `--rank-index`, the monitor of every pod asks RAS |

## Counters in shared mode

In shared mode of RDMA namespaces, which is the kernel's default, a pod has no counter files. The kernel shows the
folders `counters` and `hw_counters` only in the device's own namespace (linux drivers/infiniband/core/sysfs.c). In
shared mode, the monitor asks the kernel by netlink (`RDMA_NLDEV_CMD_STAT_GET`) for the values of `hw_counters`, and the
metrics of the folder `counters` are absent. Each value is for the whole PCI function: if several pods share a device,
the value is the sum over these pods.

The monitor never reads counters at device level, because reading these counters in a pod crashed kernels from 5.14
until 2025. The monitor does not export statistics of ethtool, such as pause frames, because the kernel returns them
only by an ioctl.

A counter with few bits stops at its maximum. The monitor still exports the counter, but `fabric_monitor_saturated` is 1
for it.

## Transport

The log of NCCL shows the transport with certainty. If a log is truncated, replaced or deleted, the monitor forgets the
old lines, reads the whole folder again, and logs one line about the event. Without a log, the monitor compares the
bytes of RDMA devices with the bytes of interfaces, in windows of at least a minute:

| in the window | transport |
| --- | --- |
| RDMA devices move at least 10 MB/s, or receive at least 100 requests per second | `rdma` |
| RDMA devices are idle. Interfaces receive and send at least 10 MB/s each, and neither rate is more than three times the other rate | `tcp` |
| anything else, such as a download, a checkpoint or a pause | the transport of the previous window |

Bytes of IP over InfiniBand do not count as RDMA. If the RDMA devices have no counters, or if the profile has transport
tcpx or tcpxo, the monitor cannot report a transport without a log. If two pods share a device, the traffic of one pod
can hide a fallback of the other pod.

If NCCL falls back to TCP, `fabric_monitor_tcp_fallback` is 1, and the monitor logs a line at most every 10 minutes. If
the profile has transport ethernet, TCP is expected and does not count as a fallback.

## GIDs

At each scrape, the monitor reads the GID rows that belong to the pod. The monitor also reads the whole GID table of one
port, and the table of the next port at the next scrape. On a pod with 8 ports, the monitor therefore counts a new row
after at most 8 scrapes. On Ethernet, the GID rows with the pod's IP addresses belong to the pod. If the monitor cannot
read the IP addresses or the link layer, `fabric_monitor_gid_changes_total` is absent for the ports that this scrape
reads.

The monitor reads at most 1,024 ports. If a pod sees more ports, the monitor logs this. A scrape reads at most 16,384
GID rows, which are the full tables of 64 ports. The next scrapes read the rows of the remaining ports.

## RAS

NCCL's RAS (since 2.24) reports ranks that do not answer. Because every process of the job has to answer each request to
RAS, only the monitor of rank 0 sends requests. The monitor sends a request once a minute, to 127.0.0.1 and ::1. While
operations run, the ranks of a communicator usually have different counts of operations. If the counts of the ranks
differ, and no count has changed between two answers, the monitor reports the communicator as stuck.

## Cost

With 64 devices and a log of NCCL, the static binary of a release has 9.7 MB in memory (the goal is 10 MiB). About 2 MB
of the monitor's memory are private to its process. The rest is the program file in memory. All containers of a node
with the same image share the program file, and the kernel drops it from memory if memory is scarce.

A scrape of 64 devices takes 17 ms of CPU time, almost all of it in the kernel. With a scrape every 15 s, the monitor
needs 0.12 % of a core (the goal is 0.2 %). If a log exists when the monitor starts, the monitor first reads the whole
log. A log of 24 MB takes 0.5 s of CPU time.

The figures are from a test, which wrote the files of a node with 64 devices of one port each to a disk, and scraped
the monitor 40 times. Each port has 22 counters and a table of 256 GIDs. The log has 24 MB. In a container of runc without capabilities, a
scrape took 18 ms. The machine had two busy x86-64 cores, no RDMA hardware and no RAS. To measure again with a static
binary:

```
FABRIC_ADMISSION_STATIC=/path/to/fabric-admission cargo test --locked --test it -- --nocapture monitor::sixty_four
```

## Not proven on hardware

Tests run the monitor on modelled files and modelled answers, because we did not have RDMA hardware. The table shows
what the tests do not prove:

| part | what is not proven |
| --- | --- |
| counters by netlink | how a real driver answers. The messages in the tests follow the source code of the kernel |
| GIDs of a shared port | which GIDs a pod sees if other pods share the port |
| RAS | how a running job answers. The answers in the tests follow NCCL's source code and documentation |
| ethtool | nothing to prove: the monitor does not read pause frames and other statistics of ethtool |

## Counters of a port

Labels: `device`, `port`. Source: `/sys/class/infiniband/DEVICE/ports/PORT/`. If node_exporter
has a metric for the same counter, the monitor uses the name of node_exporter.

| metric | source | unit | meaning |
| --- | --- | --- | --- |
";

/// What a counter counts.
fn unit_of_counter(counter: &PortCounter) -> &'static str {
    let is_packets = |word: &str| word.eq_ignore_ascii_case("packets");
    match counter.file {
        "port_xmit_wait" => "ticks",
        _ if counter.metric.contains("_bytes_") => "bytes",
        _ if counter.metric.contains("_packets_") || counter.help.split(' ').take(2).any(is_packets) => {
            "packets"
        }
        _ => "events",
    }
}

/// The page.
#[must_use]
pub fn page() -> String {
    let mut out = HEAD.to_owned();
    for counter in &COUNTERS {
        let unit = unit_of_counter(counter);
        let (folder, file) = (counter.folder.name(), counter.file);
        // Writing to a String does not fail.
        let _ = writeln!(
            out,
            "| `node_infiniband_{}` | `{folder}/{file}` | {unit} | {} |",
            counter.metric, counter.help
        );
    }
    out.push_str("\n## Other metrics\n\n| metric | source | unit | meaning |\n| --- | --- | --- | --- |\n");
    for other in &OTHERS {
        let _ = writeln!(out, "| `{}` | {} | {} | {} |", other.name, other.source, other.unit, other.help);
    }
    out
}

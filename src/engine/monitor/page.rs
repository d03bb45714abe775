//! docs/monitor.md.

use super::counters::COUNTERS;
use super::metrics::OTHERS;
use std::fmt::Write;

const HEAD: &str = "# monitor

<!-- Generated from src/engine/monitor by `just docs`; a test keeps it current. -->

For operators who want counters of the RDMA devices of a pod, and the transport that NCCL really uses. `fabric-admission
monitor` runs beside the training container, reads a fixed list of files at each scrape, and serves metrics for
Prometheus. It needs no privilege, no token and no RDMA resource.

```
fabric-admission monitor --listen :9406
fabric-admission monitor --listen :9406 --facts /fabric/facts.json --nccl-log /var/log/nccl
```

`--facts` is the file that `preflight` wrote. `--nccl-log` is a folder with files of `NCCL_DEBUG_FILE`, one folder for each
container; `verify-log` explains how they are read ([verify-log.md](verify-log.md)). A file that is missing or cannot be
read has no metric: a metric is never 0 because a file is missing. `GET /metrics` has the metrics, and `GET /healthz`
answers with 200. SIGTERM ends the process at once.

In shared mode of RDMA network namespaces, which is the kernel's default, a pod has no counters: the kernel shows
`counters` and `hw_counters` only in the device's own namespace (linux drivers/infiniband/core/sysfs.c). Then only the
state and the rate of a port are exported. Counters at device level are never read: reading them in a pod crashed kernels
from 5.14 until 2025.

A counter of few bits stops at its maximum. It is exported with this value, and `fabric_monitor_saturated` names it.

## Counters of a port

Labels: `device`, `port`. Source: `/sys/class/infiniband/DEVICE/ports/PORT/`. The names are those of node_exporter where
it has one.

| metric | source | unit | meaning |
| --- | --- | --- | --- |
";

/// The page.
#[must_use]
pub fn page() -> String {
    let mut out = HEAD.to_owned();
    for counter in &COUNTERS {
        let unit = if counter.metric.contains("_bytes_") { "bytes" } else { "events" };
        let (folder, file) = (counter.folder.name(), counter.file);
        // Writing to a String does not fail.
        let _ = writeln!(
            out,
            "| `node_infiniband_{}` | `{folder}/{file}` | {unit} | {} |",
            counter.metric, counter.help
        );
    }
    out.push_str("\n## Other metrics\n\n| metric | source | unit | meaning |\n| --- | --- | --- | --- |\n");
    for (name, unit, source, help) in OTHERS {
        let _ = writeln!(out, "| `{name}` | {source} | {unit} | {help} |");
    }
    out
}

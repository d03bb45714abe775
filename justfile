# CI runs the steps of .ci/run.

# List the recipes.
default:
    @just --list

# Run all tests.
test:
    cargo test --locked

# Check formatting and lints.
lint:
    cargo fmt --all --check
    cargo clippy --all-targets --locked -- -D warnings

# Regenerate the generated docs and the goldens. Review the diff before you commit it.
docs:
    UPDATE_GOLDEN=1 cargo test --locked
    git status --short

# Build what is released: static binaries of both architectures (or of ARCH), archives, checksums, components.
dist out="target/release-files" *arch:
    deploy/dist/build {{out}} {{arch}}

# Build the image of each binary that `just dist` left. Needs buildah.
image dist="target/release-files":
    deploy/dist/image {{dist}}

# The chart, the quick start and the calls of a real API server with the static binary that `just dist` left.
release-e2e binary="target/release-files/linux/amd64/fabric-admission":
    FABRIC_ADMISSION_BINARY={{absolute_path(binary)}} FABRIC_ADMISSION_STATIC={{absolute_path(binary)}} cargo test --locked --test it -- e2e::

# Run the benchmarks, with the settings of `dist`.
bench:
    cargo bench --locked

# Instructions of ten reviews, compared with benches/guard/instructions.txt. Needs valgrind.
bench-guard:
    cargo bench --locked --bench guard

# Cost of following a cluster of 10,000 nodes: time, memory, CPU.
bench-cluster:
    cargo bench --locked --bench cluster

# The same with 130,000 nodes; takes a few minutes.
bench-cluster-full:
    cargo bench --locked --bench cluster -- --nodes 130000

# Long certificate tests: 200 starts of three replicas, and two minutes of rotations under creates.
certificates:
    FABRIC_ADMISSION_CERTIFICATE_STARTS=200 cargo test --locked --profile dist --test it -- e2e::certificates_of_three
    FABRIC_ADMISSION_CERTIFICATE_SECONDS=120 cargo test --locked --profile dist --test it -- e2e::certificates_rotate

# Check dependencies: bans, licences, sources.
deny:
    cargo deny check bans licenses sources

# Check dependencies for known vulnerabilities. Needs the advisory database, so it is not a part of `ci`.
advisories:
    cargo deny check advisories

# Everything CI runs.
ci:
    .ci/run

# Long tests of docs/reliability.md, each on its own. This one: five roll-outs of three replicas (two minutes).
reliability-rollouts rounds="5":
    FABRIC_ADMISSION_ROLLOUTS={{rounds}} cargo test --locked --profile dist --test it -- --nocapture e2e::three_replicas

# 400 reviews per second under churn; memory and open files must stay constant.
reliability-soak minutes="30":
    FABRIC_ADMISSION_SOAK={{minutes}} cargo test --locked --profile dist --test it -- --nocapture live::a_soak

# Creates over one connection, 85 s and 31 s apart.
reliability-idle minutes="30":
    FABRIC_ADMISSION_IDLE={{minutes}} cargo test --locked --profile dist --test it -- --nocapture e2e::an_idle

# An API server that is down, under load.
reliability-outage minutes="10":
    FABRIC_ADMISSION_AWAY={{minutes}} cargo test --locked --profile dist --test it -- --nocapture live::minutes_without

# 10,000 connections and as many requests as four threads can send, from one address.
reliability-flood seconds="60":
    FABRIC_ADMISSION_FLOOD={{seconds}} cargo test --locked --profile dist --test it -- --nocapture webhook::a_flood

# Odd shapes of HTTP, JSON and TLS, mixed with good requests.
reliability-attack requests="100000":
    FABRIC_ADMISSION_ATTACK={{requests}} cargo test --locked --profile dist --test it -- --nocapture webhook::a_mix

# The cost property at length: inputs of up to 8 MiB, ten minutes of CPU for each way in.
cost seconds="600" bytes="8388608":
    FABRIC_ADMISSION_COST={{seconds}} FABRIC_ADMISSION_COST_BYTES={{bytes}} FABRIC_ADMISSION_COST_TABLE=1 cargo test --locked --profile dist --test it -- --nocapture cost::

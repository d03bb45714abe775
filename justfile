# The recipes that CI runs are the ones of .ci/run.

# List the recipes.
default:
    @just --list

# Run all tests.
test:
    cargo test --locked

# Check formatting and lints.
lint:
    cargo fmt --check
    cargo clippy --all-targets --locked -- -D warnings

# Regenerate the generated docs and the goldens; review the diff before you commit it.
docs:
    UPDATE_GOLDEN=1 cargo test --locked
    git status --short

# Build what is shipped: the profile of every figure of size, speed and instructions.
dist:
    cargo build --locked --profile dist

# Run the benchmarks, with the settings of `dist`.
bench:
    cargo bench --locked

# What following a cluster of 10,000 nodes costs: time, memory, CPU.
bench-cluster:
    cargo bench --locked --bench cluster

# The same with 130,000 nodes: a few minutes.
bench-cluster-full:
    cargo bench --locked --bench cluster -- --nodes 130000

# Certificates at length: 200 starts of three replicas, and two minutes of rotations under creates.
certificates:
    FABRIC_ADMISSION_CERTIFICATE_STARTS=200 cargo test --locked --profile dist --test it -- e2e::certificates_of_three
    FABRIC_ADMISSION_CERTIFICATE_SECONDS=120 cargo test --locked --profile dist --test it -- e2e::certificates_rotate

# Check dependencies: bans, licences, sources.
deny:
    cargo deny check bans licenses sources

# Everything CI runs.
ci:
    .ci/run

# The long forms of docs/reliability.md, each alone: five roll-outs of three replicas (two minutes).
reliability-rollouts rounds="5":
    FABRIC_ADMISSION_ROLLOUTS={{rounds}} cargo test --locked --profile dist --test it -- --nocapture e2e::three_replicas

# 400 reviews a second under churn; memory and descriptors must stay flat.
reliability-soak minutes="30":
    FABRIC_ADMISSION_SOAK={{minutes}} cargo test --locked --profile dist --test it -- --nocapture live::a_soak

# A create every 85 and 31 seconds over one connection.
reliability-idle minutes="30":
    FABRIC_ADMISSION_IDLE={{minutes}} cargo test --locked --profile dist --test it -- --nocapture e2e::an_idle

# No API server under load.
reliability-outage minutes="10":
    FABRIC_ADMISSION_AWAY={{minutes}} cargo test --locked --profile dist --test it -- --nocapture live::minutes_without

# 10,000 connections and all the requests that four threads can make, from one address.
reliability-flood seconds="60":
    FABRIC_ADMISSION_FLOOD={{seconds}} cargo test --locked --profile dist --test it -- --nocapture webhook::a_flood

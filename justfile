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

# Where the instructions of one of these reviews go, by function. Needs valgrind.
bench-guard-phases review="a pod that names its profile":
    cargo bench --locked --bench guard -- phases "{{review}}"

# Cost of following a cluster of 10,000 nodes: time, memory, CPU.
bench-cluster:
    cargo bench --locked --bench cluster

# The same with 130,000 nodes; takes a few minutes.
bench-cluster-full:
    cargo bench --locked --bench cluster -- --nodes 130000

# A constant rate with the connections of an API server, beside a constant answer and a server that reads the same fields.
# `cargo bench --bench load -- --help` lists the options, `--against URL` among them. So for all recipes up to bench-relist.
bench-load *options:
    cargo bench --locked --bench load -- {{options}}

# CPU per request at 1 to 1,000 requests per second.
bench-rates *options:
    cargo bench --locked --bench load -- --layer constant,constant-cores,full --rate 1,10,100,1000 {{options}}

# Bodies of 4 kB to 2.9 MB.
bench-payloads *options:
    cargo bench --locked --bench load -- --payload 4k,7.5k,25k,196k,2.9M --rate 5 {{options}}

# Containers and variables of a pod.
bench-pods *options:
    cargo bench --locked --bench load -- --layer constant,full --containers 1,8,50 --env 10,100 {{options}}

# Nodes of the cluster: the first lists take a minute.
bench-nodes *options:
    cargo bench --locked --bench load -- --layer full --nodes 10,1000,10000,130000 {{options}}

# NetworkAttachmentDefinitions of the cluster.
bench-networks *options:
    cargo bench --locked --bench load -- --layer full --networks 10,1000,10000 {{options}}

# FabricProfiles of the cluster.
bench-profiles *options:
    cargo bench --locked --bench load -- --layer full --profiles 1,16,512 {{options}}

# As many reviews as 25 connections carry.
bench-throughput *options:
    cargo bench --locked --bench load -- --burst 20000 --connections 25 {{options}}

# The pods of a gang: 1,024 at once over 25 connections.
bench-gang *options:
    cargo bench --locked --bench load -- --burst 1024 --connections 25 {{options}}

# The same while the server lists 130,000 nodes again.
bench-relist *options:
    cargo bench --locked --bench load -- --burst 1024 --connections 25 --layer full --relist --nodes 130000 {{options}}

# Measures all tables of docs/performance.md anew and writes them into the page. Takes most of an hour.
performance *options:
    just bench-load --page layers {{options}}
    just bench-rates --page rates {{options}}
    just bench-payloads --page payloads {{options}}
    just bench-pods --page pods {{options}}
    just bench-nodes --page nodes {{options}}
    just bench-networks --page networks {{options}}
    just bench-profiles --page profiles {{options}}
    just bench-throughput --page throughput {{options}}
    just bench-gang --page gang {{options}}
    just bench-relist --page relist {{options}}
    UPDATE_GOLDEN=1 just bench-guard
    UPDATE_GOLDEN=1 cargo test --locked --test it -- cost::the_page

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

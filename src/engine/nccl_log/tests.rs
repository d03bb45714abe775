use super::*;

/// A log of some lines.
fn log(text: &str) -> Log {
    let (mut lines, mut log, mut line) = (Lines::default(), Log::default(), 0);
    lines.push(text.as_bytes(), |cut| {
        line += u64::from(cut.begins_line);
        log.add_line(cut, Place { input: 0, line });
    });
    lines.end_with_unfinished_line(|cut| {
        log.add_line(cut, Place { input: 0, line: line + u64::from(cut.begins_line) })
    });
    log
}

fn begin(process: u32, address: u32, rank: u32, size: u32, id: u32) -> String {
    format!(
        "h{process}:{process}:9 [0] NCCL INFO ncclCommInitRank comm {address:#x} rank {rank} nranks {size} cudaDev 0 nvmlDev 0 \
         busId 1000 commId {id:#x} - Init START\n"
    )
}

#[test]
fn numbers_of_a_log_need_bounded_memory() {
    let mut text = String::new();
    for n in 0..90_000 {
        text += &begin(n, n, 0, u32::MAX, n);
        text += &format!("h{n}:{n}:9 [0] NCCL INFO Using network net-{n}\n");
    }
    let log = log(&text);
    assert!(log.communicators().len() <= 8192, "{}", log.communicators().len());
    assert!(log.skipped.beyond_limits > 0);
    // A size out of a log makes no list of that length.
    let found = findings_of_log(&log, &[]);
    assert!(found.len() <= 1010, "{}", found.len());
}

/// tqdm draws its bar again behind a carriage return, for hours and without a line feed.
#[test]
fn a_progress_bar_does_not_hide_the_line_of_nccl_behind_it() {
    let warn = "h1:1:9 [0] NCCL WARN NET/IB : Got completion from peer with status=12 opcode=0 len=0 vendor err 129\n";
    let rules = |text: &str| -> Vec<_> {
        findings_of_log(&log(text), &[]).into_iter().map(|found| format!("{found:?}")).collect()
    };
    let bar = "\rEpoch 1: 45% 450/1000 [01:23<01:41,  5.4it/s]".repeat(500);
    assert_eq!(
        rules(&format!("{}{bar}\r{warn}", begin(1, 1, 0, 1, 1))),
        rules(&format!("{}{warn}", begin(1, 1, 0, 1, 1)))
    );
    assert_ne!(rules(&format!("{}{bar}\r{warn}", begin(1, 1, 0, 1, 1))), rules(&begin(1, 1, 0, 1, 1)));
    assert_eq!(log(&format!("{bar}\r{warn}")).lines, 1);
    assert_eq!(
        log(&format!("{}{warn}", "x".repeat(5_000))).skipped.long,
        1,
        "what is cut off is not kept silent"
    );
}

/// Process and CUDA device are two numbers of a line, so their pairs are more than the processes.
#[test]
fn devices_of_a_log_need_bounded_memory() {
    let mut text = String::new();
    for n in 0..70_000 {
        text += &format!("h:{}:1 [{}] NCCL INFO Using network IB\n", n / 1000, n % 1000);
    }
    let log = log(&text);
    assert_eq!((log.seats.len(), log.skipped.beyond_limits), (65_536, 70_000 - 65_536));
}

fn split(address: u32, parent: u32) -> String {
    format!(
        "h:1:9 [0] NCCL INFO ncclCommSplit comm {address:#x} rank 0 nranks 2 cudaDev 0 nvmlDev 0 busId 1000 parent {parent:#x} \
         color 1 key 0 - Init START\n"
    )
}

#[test]
fn splits_of_a_log_need_bounded_memory() {
    let log = log(&(1..70_000).map(|n| split(n, n + 1_000_000)).collect::<String>());
    assert_eq!(log.splits.len(), 65_536);
    assert!(log.skipped.beyond_limits >= 70_000 - 1 - 65_536, "{}", log.skipped.beyond_limits);
}

#[test]
fn a_channel_belongs_to_the_last_communicator_with_that_rank() {
    let text = begin(1, 0xa, 0, 4, 1) + &begin(1, 0xb, 1, 2, 2);
    let channel = "h1:1:9 [0] NCCL INFO Channel 00/0 : 0[0] -> 3[0] [send] via NET/IB/0/GDRDMA\n";
    let log = log(&(text + channel));
    let ends: Vec<u32> = log.communicators().iter().map(|c| log.ranks(c)[0].direct).collect();
    assert_eq!(ends, [1, 0]);
}

#[test]
fn an_unnamed_rank_has_its_channels() {
    let log = log("h:1:9 [0] NCCL INFO Channel 00/0 : 0[0] -> 3[0] [send] via NET/Socket/0\n");
    let found = findings_of_log(&log, &[]);
    assert!(found.iter().any(|f| f.kind == Kind::TcpFallback), "{found:?}");
}

/// A process keeps one bit for each known line.
#[test]
fn known_lines_fit_their_bits() {
    assert!(crate::known_lines::KNOWN_LINES.len() <= 64);
}

/// The last of a rank's channels says nothing about those before it.
#[test]
fn one_channel_over_tcp_is_found_among_others() {
    for (first, last) in [("Socket", "IB"), ("IB", "Socket")] {
        let mut text = begin(0, 1, 0, 2, 7) + &begin(1, 2, 1, 2, 7);
        for (channel, net) in [first, last].into_iter().enumerate() {
            for rank in 0..2 {
                let peer = 1 - rank;
                text += &format!(
                    "h{rank}:{rank}:9 [0] NCCL INFO Channel {channel}/0 : {rank}[0] -> {peer}[0] [send] via NET/{net}/0\n"
                );
            }
        }
        let log = log(&text);
        let of = |expected: &[String], kind: Kind| {
            findings_of_log(&log, expected).into_iter().filter(|finding| finding.kind == kind).count()
        };
        assert_eq!(of(&[], Kind::TcpFallback), 1, "{first}, then {last}");
        assert_eq!(of(&["ib".to_owned()], Kind::TcpFallback), 1, "{first}, then {last}");
        assert_eq!(of(&["socket".to_owned()], Kind::UnexpectedNetwork), 1, "{first}, then {last}");
    }
}

use super::message::{Comm, Message, Path, parse_message};

/// The forms of 2.18, 2.21, 2.23, 2.27, 2.30 and 2.31, one of each.
#[test]
fn every_form_is_read() {
    let net = |transport, device, gpu_direct| Path::Net { transport, device, gpu_direct };
    let channel = |rank, peer, path| Message::Channel { rank, peer, path };
    for (text, expected) in [
        ("Using network IB", Message::Network("IB")),
        ("Using network AWS Libfabric", Message::Network("AWS Libfabric")),
        ("Using network IBext_v8", Message::Network("IBext_v8")),
        (
            "NET/IB : Using [0]mlx5_0:1/IB [1]mlx5_1:1/RoCE [RO]; OOB eth0:10.1.2.3<0>",
            Message::Devices { list: "[0]mlx5_0:1/IB [1]mlx5_1:1/RoCE", interface: "eth0" },
        ),
        (
            "NET/IB : Using [0]rocep1s0:1:0/RoCE ; OOB eth0:fd00::1<0>",
            Message::Devices { list: "[0]rocep1s0:1:0/RoCE", interface: "eth0" },
        ),
        ("NET/Socket : Using [0]eth0:10.1.2.3<0>", Message::Other),
        ("Bootstrap : Using eth0:10.1.2.3<0>", Message::Bootstrap("eth0")),
        ("Bootstrap: Using net1:10.1.2.3<0>", Message::Bootstrap("net1")),
        ("Bootstrap : Using [0]ib0:10.1.2.3<0>", Message::Bootstrap("ib0")),
        ("NCCL version 2.18.6+cuda12.2", Message::Version("2.18.6+cuda12.2")),
        ("RCCL version 2.21.5-HEAD:abc", Message::Version("2.21.5-HEAD:abc")),
        ("Channel 00/0 : 0[0] -> 8[0] [send] via NET/IB/0", channel(0, 8, net("IB", 0, false))),
        ("Channel 03/0 : 8[0] -> 0[0] [receive] via NET/IB/3/GDRDMA", channel(0, 8, net("IB", 3, true))),
        ("Channel 03/0 : 0[0] -> 8[0] [send] via NET/IB/3(2)/GDRDMA", channel(0, 8, net("IB", 3, true))),
        (
            "Channel 03/1 : 0[0] -> 8[0] [send] via NET/IB/3/GDRDMA(PCI)/Shared",
            channel(0, 8, net("IB", 3, true)),
        ),
        (
            "Channel 00/0 : 9[1] -> 0[0] [receive] via NET/IB/0/GDRDMA/flush=None",
            channel(0, 9, net("IB", 0, true)),
        ),
        (
            "Channel 03/0 : 1[3] -> 0[3] [receive] via NET/IB-CAST/1/GDRDMA/flush=Always",
            channel(0, 1, net("IB-CAST", 1, true)),
        ),
        (
            "Channel 03/0 : 1[3] -> 0[3] [receive] via NET/IB/1/GDRDMA(PCI)/flush=Always/Shared",
            channel(0, 1, net("IB", 1, true)),
        ),
        ("Channel 03/1 : 0[0] -> 8[0] [send] via NET/IB/3/Shared", channel(0, 8, net("IB", 3, false))),
        ("Channel 00/0 : 1[0] -> 0[0] [receive] via NET/Socket/0", channel(0, 1, net("Socket", 0, false))),
        (
            "Channel 00/0 : 1[0] -> 0[0] [receive] via NET/AWS Libfabric/4/GDRDMA",
            channel(0, 1, net("AWS Libfabric", 4, true)),
        ),
        (
            "Channel 00/0 : 1[0] -> 0[0] [send] via COLLNET/SHARP/0/GDRDMA",
            channel(1, 0, net("SHARP", 0, true)),
        ),
        ("Channel 00/0 : 0[0] -> 1[1] via P2P/CUMEM/read", channel(0, 1, Path::Local)),
        ("Channel 00/0 : 0[0] -> 1[1] via P2P/MNNVL", channel(0, 1, Path::Local)),
        ("Channel 00/0 : 0[0] -> 1[1] via P2P/indirect/2[2]", channel(0, 1, Path::Local)),
        ("Channel 00 : 0[0] -> 1[1] via SHM/direct/direct", channel(0, 1, Path::Local)),
        ("Channel 00/16 :    0   1   2   3", Message::Other),
        (
            "16 coll channels, 0 nvls channels, 16 p2p channels, 2 p2p channels per peer",
            Message::Channels(16),
        ),
        ("Connected all rings", Message::Rings { pxn: None, gpu_direct: None }),
        (
            "Connected all rings, use ring PXN 0 GDR 1",
            Message::Rings { pxn: Some(false), gpu_direct: Some(true) },
        ),
        ("NET/IB : GPU Direct RDMA Enabled for HCA 0 'mlx5_0'", Message::HcaDirect(true)),
        ("NET/IB : GPU Direct RDMA Disabled for HCA 0 'mlx5_0'", Message::HcaDirect(false)),
        ("NET/Plugin: Loaded net plugin IBext_v8 (v8)", Message::Plugin("IBext_v8")),
        ("NET/Plugin: Could not find: libnccl-net.so. Using internal network plugin.", Message::Other),
        ("Successfully loaded external network plugin libnccl-net.so", Message::Plugin("libnccl-net.so")),
        ("NET/OFI Selected Provider is efa (found 16 nics)", Message::Provider("efa")),
        ("NET/OFI Selected provider is efa, fabric is efa (found 4 nics)", Message::Provider("efa")),
        ("NCCL_IB_DISABLE set by environment to 1.", Message::Setting("NCCL_IB_DISABLE", "1")),
        ("NCCL_IB_HCA set to mlx5", Message::Setting("NCCL_IB_HCA", "mlx5")),
        ("Connected all trees", Message::Other),
    ] {
        assert_eq!(parse_message(text), expected, "{text}");
    }
}

#[test]
fn communicators_are_read_in_every_form() {
    let comm = Comm { address: 0x5f, rank: 3, size: 16, ..Comm::default() };
    let named = Comm { id: Some(0x2f24), ..comm };
    let tail = "cudaDev 3 nvmlDev 3 busId c8000";
    for (text, expected) in [
        (format!("comm 0x5f rank 3 nranks 16 {tail} commId 0x2f24 - Init START"), Message::Start(named)),
        (
            format!("ncclCommInitRank comm 0x5f rank 3 nranks 16 {tail} commId 0x2f24 - Init COMPLETE"),
            Message::Complete(named),
        ),
        (
            format!(
                "[Rank 3] ncclCommInitRankConfig comm 0x5f rank 3 nranks 16 {tail} commId 0x2f24 - Init START"
            ),
            Message::Start(named),
        ),
        (
            format!("ncclCommSplit comm 0x5f rank 3 nranks 16 {tail} parent 0xaa color 1 key 3- Init START"),
            Message::Start(Comm { split: Some((0xaa, None, 1)), ..comm }),
        ),
        (
            format!(
                "ncclCommSplit comm 0x5f rank 3 nranks 16 {tail} parent 0xaa splitCount 2 color -7 key 3 - Init COMPLETE"
            ),
            Message::Complete(Comm { split: Some((0xaa, Some(2), -7)), ..comm }),
        ),
        (
            "comm 0x5f rank 3 nRanks 16 nNodes 2 localRanks 8 localRank 3 MNNVL 0".to_owned(),
            Message::Layout(Comm { nodes: Some(2), ..comm }),
        ),
        (
            "comm 0x5f rank 3 nRanks 16 nNodes 4 localRanks 4 localRank 3 MNNVL 1".to_owned(),
            Message::Layout(Comm { nodes: Some(4), mnnvl: true, ..comm }),
        ),
        (format!("comm 0x5f rank 3 nranks 16 {tail} - Destroy COMPLETE"), Message::Other),
    ] {
        assert_eq!(parse_message(&text), expected, "{text}");
    }
}

/// The head of a form without its end decides nothing.
#[test]
fn a_cut_message_is_cut() {
    for text in [
        "Channel 00/0 : 0[0] -> 8[0] [send] via NET/I",
        "Channel 00/0 : 0[0] -> 8[0] [se",
        "Channel 00/0 : 0[0] -> 8[0] [send] via NET/IB/x",
        "Using network ",
        "comm 0x5f rank 3 nra - Init START",
        "comm 0x5f rank 16 nranks 16 - Init START",
        "NET/IB : Using [0]mlx5_0:1/IB [1]mlx5_1",
        "NET/IB : GPU Direct RDMA Ena",
        "x coll channels",
    ] {
        assert_eq!(parse_message(text), Message::Cut, "{text}");
    }
}

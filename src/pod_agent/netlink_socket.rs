//! A socket of netlink, and questions to the kernel.

use super::bounded_files::errno;
use crate::rdma::{Reading, Unreadable};
use rustix::fd::OwnedFd;
use rustix::net::netlink::SocketAddrNetlink;
use rustix::net::{
    AddressFamily, Protocol, RecvFlags, SendFlags, SocketFlags, SocketType, bind, recv, send, socket_with,
};

/// Longest part of an answer (bytes); the kernel's parts have at most this length.
const MAX_PART_BYTES: usize = 32 << 10;
/// Most parts of an answer: 64 interfaces with a few addresses each are two or three.
const MAX_PARTS: usize = 1000;

/// A socket, and the buffer of its answers.
pub(super) struct NetlinkSocket {
    socket: OwnedFd,
    buffer: Vec<u8>,
}

impl NetlinkSocket {
    /// Opens a socket of a family; without one, of rtnetlink.
    pub(super) fn open(family: Option<Protocol>) -> Reading<Self> {
        let socket = socket_with(AddressFamily::NETLINK, SocketType::RAW, SocketFlags::CLOEXEC, family)
            .map_err(errno)?;
        bind(&socket, &SocketAddrNetlink::new(0, 0)).map_err(errno)?;
        Ok(Self { socket, buffer: vec![0; MAX_PART_BYTES] })
    }

    /// Sends a request and hands each part of the answer on, until one is the last.
    pub(super) fn send_and_read_parts(
        &mut self,
        request: &[u8],
        mut part: impl FnMut(&[u8]) -> Reading<bool>,
    ) -> Reading<()> {
        // The kernel answers within the call to send, so that the answer is there before it is awaited.
        send(&self.socket, request, SendFlags::empty()).map_err(errno)?;
        for _ in 0..MAX_PARTS {
            let received = recv(&self.socket, self.buffer.as_mut_slice(), RecvFlags::DONTWAIT);
            let (length, _) = received.map_err(errno)?;
            let answer = self.buffer.get(..length).unwrap_or_default();
            if answer.is_empty() || part(answer)? {
                return Ok(());
            }
        }
        Err(Unreadable::NotRead("the kernel's answer has no end"))
    }
}

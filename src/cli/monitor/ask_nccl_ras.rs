//! Questions to NCCL's RAS. One question makes every process of the job answer, so only rank 0 asks, and seldom.

use crate::monitor::{LONGEST_RAS_ANSWER, RasAnswer, ras_answer};
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::time::Duration;
use tokio::net::TcpStream;
use tokio::time::timeout;

/// Time between two questions. RAS considers a process dead after 60 s.
pub(super) const TIME_BETWEEN_QUESTIONS: Duration = Duration::from_secs(60);

/// Whether a pod with these indices has rank 0. An empty index is one that the pod does not have; without any index the
/// rank is unknown. Kubeflow's training operator labels the pod of rank 0 with the role `master`.
pub(super) fn is_pod_of_rank_zero(indices: &[String]) -> Option<bool> {
    let mut known = indices.iter().filter(|index| !index.is_empty()).peekable();
    known.peek()?;
    Some(known.all(|index| index == "0" || index == "master"))
}

/// Asks once. NCCL resolves `localhost` and binds the first address, so both are tried, each for this time.
///
/// # Errors
/// Why neither address gave an answer.
pub(super) async fn ask_over_both_loopbacks(port: u16, deadline: Duration) -> Result<RasAnswer, String> {
    let mut reasons = Vec::new();
    for address in [IpAddr::V4(Ipv4Addr::LOCALHOST), IpAddr::V6(Ipv6Addr::LOCALHOST)] {
        match timeout(deadline, ask_one(address, port)).await {
            Ok(Ok(answer)) => return Ok(answer),
            Ok(Err(error)) => reasons.push(error),
            Err(_) => {
                let reason = format!("{address} port {port}: no answer within {} s", deadline.as_secs());
                reasons.push(reason);
            }
        }
    }
    Err(reasons.join("; "))
}

async fn ask_one(address: IpAddr, port: u16) -> Result<RasAnswer, String> {
    let answer = exchange(address, port).await.map_err(|error| format!("{address} port {port}: {error}"))?;
    let text = String::from_utf8_lossy(&answer);
    ras_answer(&text).map_err(|error| format!("{address} port {port}: {error}"))
}

/// Sends the question, and reads until RAS closes the connection.
async fn exchange(address: IpAddr, port: u16) -> io::Result<Vec<u8>> {
    let stream = TcpStream::connect((address, port)).await?;
    stream.writable().await?;
    // A socket that was just opened has room for a few bytes.
    stream.try_write(b"STATUS\n")?;
    let mut answer = Vec::new();
    let mut part = [0; 4096];
    while answer.len() <= LONGEST_RAS_ANSWER {
        stream.readable().await?;
        match stream.try_read(&mut part) {
            Ok(0) => break,
            Ok(length) => answer.extend(part.iter().take(length)),
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
            Err(error) => return Err(error),
        }
    }
    Ok(answer)
}

#[cfg(test)]
mod tests {
    use super::is_pod_of_rank_zero;

    #[test]
    fn rank_0_is_the_pod_whose_indices_are_all_0() {
        let of = |indices: &[&str]| {
            is_pod_of_rank_zero(&indices.iter().map(|i| (*i).to_owned()).collect::<Vec<_>>())
        };
        assert_eq!(of(&[]), None);
        assert_eq!(of(&["", ""]), None);
        assert_eq!(of(&["0", ""]), Some(true));
        assert_eq!(of(&["0", "0"]), Some(true));
        assert_eq!(of(&["0", "1"]), Some(false));
        assert_eq!(of(&["", "master"]), Some(true));
        assert_eq!(of(&["worker"]), Some(false));
    }
}

//! What a command writes, read as it comes.

use std::collections::VecDeque;
use std::io;

use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};

/// More was written than is taken.
#[derive(Debug)]
pub(super) struct TooLarge;

/// Writes all of the input. A command that does not read it, or not all of it, is none
/// the worse for it.
pub(super) async fn feed(pipe: Option<impl AsyncWrite + Unpin>, input: &[u8]) {
    let Some(mut pipe) = pipe else { return };
    // What fails here is the pipe: the other end was closed.
    let _ = pipe.write_all(input).await;
    let _ = pipe.shutdown().await;
}

/// Reads up to `most` bytes.
pub(super) async fn whole(
    pipe: Option<impl AsyncRead + Unpin>,
    most: usize,
    into: &mut Vec<u8>,
) -> Result<(), TooLarge> {
    let Some(mut pipe) = pipe else { return Ok(()) };
    let mut chunk = vec![0; 16 * 1024];
    while let Some(read) = next(&mut pipe, &mut chunk).await {
        if into.len() + read.len() > most {
            return Err(TooLarge);
        }
        into.extend_from_slice(read);
    }
    Ok(())
}

/// Reads to the end and keeps the last `most` bytes.
pub(super) async fn tail(
    pipe: Option<impl AsyncRead + Unpin>,
    most: usize,
    into: &mut VecDeque<u8>,
) {
    let Some(mut pipe) = pipe else { return };
    let mut chunk = vec![0; 4 * 1024];
    while let Some(read) = next(&mut pipe, &mut chunk).await {
        into.extend(read);
        let excess = into.len().saturating_sub(most);
        into.drain(..excess);
    }
}

/// The bytes that come next; `None` at the end, which an error is as well.
async fn next<'c>(pipe: &mut (impl AsyncRead + Unpin), chunk: &'c mut [u8]) -> Option<&'c [u8]> {
    loop {
        match pipe.read(chunk).await {
            Ok(0) => return None,
            Ok(read) => return Some(&chunk[..read]),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(_) => return None,
        }
    }
}

/// The end of stderr as text: from the first whole character.
pub(super) fn text(mut tail: VecDeque<u8>) -> String {
    let bytes = tail.make_contiguous();
    let start = bytes.iter().take(3).take_while(|byte| **byte & 0xC0 == 0x80).count();
    String::from_utf8_lossy(&bytes[start..]).into_owned()
}

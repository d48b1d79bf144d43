//! Clients that stall do not hold up the end of a page.

mod support;

use std::io::{BufRead, BufReader, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use support::{Host, TOKEN};

/// A client that has sent this, and neither sends nor reads more.
fn stalled(at: SocketAddr, sent: &str) -> TcpStream {
    let mut socket = TcpStream::connect(at).expect("it listens");
    socket.write_all(sent.as_bytes()).expect("it reads");
    socket
}

#[tokio::test(flavor = "multi_thread")]
async fn clients_that_stall_do_not_hold_up_the_end() {
    let host = Host::new();
    let change = format!(
        "POST /api/settings HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {TOKEN}\r\n\
         Content-Type: application/json\r\nContent-Length: 500\r\n\r\n{{"
    );
    for sent in ["", "GET /api/state HT", "GET /api/state HTTP/1.1\r\nHost: loc", &change] {
        let served = host.inspector().serve("127.0.0.1:0".parse().unwrap()).await.unwrap();
        let at = served.local_addr();
        let client = stalled(at, sent);
        // A whole request behind it: what was sent before is read by then.
        let mut asking = stalled(at, "GET /api/schema HTTP/1.1\r\nHost: localhost\r\n\r\n");
        asking.set_read_timeout(Some(Duration::from_secs(10))).unwrap();
        BufReader::new(&mut asking).read_line(&mut String::new()).expect("an answer");
        tokio::time::timeout(Duration::from_secs(10), served.stop())
            .await
            .unwrap_or_else(|_| panic!("held up by a client that sent {sent:?}"));
        drop(client);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stream_that_is_not_read_does_not_hold_up_the_end() {
    let host = Host::new();
    let served = host.inspector().serve("127.0.0.1:0".parse().unwrap()).await.unwrap();
    let at = served.local_addr();
    let client = stalled(at, "GET /api/fires HTTP/1.1\r\nHost: localhost\r\n\r\n");
    while host.hooks.operator().traces().is_empty() {
        tokio::task::yield_now().await;
    }
    // More than the buffers of the sockets hold: the server waits for the client.
    let item = "a long name of a thing ".repeat(40);
    let until = tokio::time::Instant::now() + Duration::from_secs(6);
    while tokio::time::Instant::now() < until {
        for _ in 0..20 {
            host.order(&item).await;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    tokio::time::timeout(Duration::from_secs(10), served.stop()).await.expect("it ends");
    drop(client);
}

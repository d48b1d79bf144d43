//! A page on a socket of its own.

use std::fmt;
use std::net::SocketAddr;

use futures::FutureExt as _;
use futures::future::{Either, select};
use thiserror::Error;
use tokio::net::TcpListener;
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

use crate::inspector::Inspector;

/// A page that is being served, until this is dropped or [stopped](Self::stop).
///
/// ```
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let hooks = hooks_runtime::HookRegistry::new();
/// use hooks_inspect::{Inspector, Token};
///
/// let inspector = Inspector::new(&hooks).operator(hooks.operator(), Token::generate());
/// let served = inspector.serve("127.0.0.1:0".parse()?).await?;
/// println!("{}", served.address());
/// assert!(served.address().contains("/#token="));
/// assert_eq!(served.local_addr().ip(), std::net::Ipv4Addr::LOCALHOST);
/// served.stop().await;
/// # Ok(()) }
/// ```
#[must_use = "the page is served as long as this is kept"]
pub struct Served {
    at: SocketAddr,
    address: String,
    stop: oneshot::Sender<()>,
    task: JoinHandle<()>,
}

/// Why a page is not served.
///
/// ```
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let hooks = hooks_runtime::HookRegistry::new();
/// use hooks_inspect::{Inspector, ServeError};
///
/// let refused = Inspector::new(&hooks).serve("0.0.0.0:8080".parse()?).await.unwrap_err();
/// assert!(matches!(refused, ServeError::NotLoopback { .. }));
/// assert_eq!(
///     refused.to_string(),
///     "0.0.0.0:8080 can be reached from other machines, which could read what runs here: use \
///      127.0.0.1:8080 or [::1]:8080, or `allow_remote()` if that is meant",
/// );
/// # Ok(()) }
/// ```
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ServeError {
    /// Other machines can reach the address.
    #[error(
        "{address} can be reached from other machines, which could read what runs here: use \
         127.0.0.1:{port} or [::1]:{port}, or `allow_remote()` if that is meant",
        port = .address.port()
    )]
    NotLoopback {
        /// The address.
        address: SocketAddr,
    },
    /// The address cannot be listened at.
    #[error("cannot listen at {address}: {error}")]
    Listen {
        /// The address.
        address: SocketAddr,
        /// Why.
        #[source]
        error: std::io::Error,
    },
}

pub(crate) async fn serve(
    mut inspector: Inspector,
    address: SocketAddr,
) -> Result<Served, ServeError> {
    if !address.ip().to_canonical().is_loopback() && !inspector.serves_remote() {
        return Err(ServeError::NotLoopback { address });
    }
    let listen = |error| ServeError::Listen { address, error };
    let listener = TcpListener::bind(address).await.map_err(listen)?;
    let at = listener.local_addr().map_err(listen)?;
    let token = inspector.token().map(|token| format!("#token={}", encoded(token.as_str())));
    let address = format!("http://{at}/{}", token.unwrap_or_default());

    let (stop, stopped) = oneshot::channel::<()>();
    // A sender that is dropped stops it as well.
    let stopped = stopped.map(drop).boxed();
    let ending = match inspector.take_ending() {
        None => stopped.shared(),
        Some(ending) => select(stopped, ending).map(|_: Either<_, _>| ()).boxed().shared(),
    };
    let router = inspector.ending(ending.clone()).router();
    let service = router.into_make_service_with_connect_info::<SocketAddr>();
    let serving = axum::serve(listener, service).with_graceful_shutdown(ending);
    let task = tokio::spawn(async move { drop(serving.await) });
    Ok(Served { at, address, stop, task })
}

/// The text as a part of an address.
fn encoded(text: &str) -> String {
    let byte = |byte: u8| match byte {
        b'-' | b'.' | b'_' | b'~' | b'0'..=b'9' | b'a'..=b'z' | b'A'..=b'Z' => {
            char::from(byte).to_string()
        }
        _ => format!("%{byte:02X}"),
    };
    text.bytes().map(byte).collect()
}

impl Served {
    /// The address of the page, with the token behind the `#` where it may change settings:
    /// browsers never send that part, and the page takes it out of the address bar.
    pub fn address(&self) -> &str {
        &self.address
    }

    /// Where it listens.
    pub fn local_addr(&self) -> SocketAddr {
        self.at
    }

    /// Stops listening, ends the streams of events and waits for requests under way.
    pub async fn stop(self) {
        drop(self.stop);
        // An error is a panic of the server: there is nothing left to stop then.
        drop(self.task.await);
    }
}

/// Without the token.
impl fmt::Debug for Served {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Served").field("at", &self.at).finish_non_exhaustive()
    }
}

//! A carrier that changes what it carries, as an attacker on the way would.

use std::collections::VecDeque;
use std::fmt;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures::FutureExt;
use futures::future::BoxFuture;
use hooks_fleet::LocalNetwork;
use hooks_fleet::carrier::{
    Cancellations, Carrier, CarrierError, Deliveries, Inbound, Message, Presence, Requests, Watch,
};
use hooks_fleet::wire::Announcement;
use hooks_fleet::wire::subject::Route;
use tokio::sync::Semaphore;

type Change = Arc<dyn Fn(&mut Message) + Send + Sync>;
type Reply =
    Arc<dyn Fn(Result<Message, CarrierError>) -> Result<Message, CarrierError> + Send + Sync>;

/// The network, with requests and replies changed on the way.
#[derive(Clone)]
pub struct Tamper {
    pub network: LocalNetwork,
    pub request: Change,
    pub reply: Reply,
    /// How often a request was sent.
    pub sent: Arc<Mutex<u32>>,
    /// Announcements wait for a permit of it each, where there is one.
    pub announcements: Option<Arc<Semaphore>>,
    /// What a watch hears first, before it waits for a permit.
    pub heard_first: Option<(Vec<Presence>, Arc<Semaphore>)>,
    replies: Option<Arc<Semaphore>>,
}

impl Tamper {
    pub fn new(network: &LocalNetwork) -> Self {
        let (request, reply): (Change, Reply) = (Arc::new(|_| ()), Arc::new(|reply| reply));
        let (network, sent) = (network.clone(), Arc::default());
        let (announcements, heard_first, replies) = (None, None, None);
        Self { network, request, reply, sent, announcements, heard_first, replies }
    }

    pub fn request(mut self, change: impl Fn(&mut Message) + Send + Sync + 'static) -> Self {
        self.request = Arc::new(change);
        self
    }

    pub fn reply(
        mut self,
        change: impl Fn(Result<Message, CarrierError>) -> Result<Message, CarrierError>
        + Send
        + Sync
        + 'static,
    ) -> Self {
        self.reply = Arc::new(change);
        self
    }

    /// Replies wait for a permit each before they are sent.
    pub fn holding_replies(mut self, held: &Arc<Semaphore>) -> Self {
        self.replies = Some(Arc::clone(held));
        self
    }

    pub fn sent(&self) -> u32 {
        *self.sent.lock().unwrap()
    }
}

impl fmt::Debug for Tamper {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Tamper")
    }
}

impl Carrier for Tamper {
    fn max_bytes(&self) -> usize {
        self.network.max_bytes()
    }

    fn request<'a>(
        &'a self,
        route: &'a Route,
        mut message: Message,
        limit: Duration,
    ) -> BoxFuture<'a, Result<Message, CarrierError>> {
        *self.sent.lock().unwrap() += 1;
        (self.request)(&mut message);
        async move { (self.reply)(self.network.request(route, message, limit).await) }.boxed()
    }

    fn serve<'a>(
        &'a self,
        route: &'a Route,
    ) -> BoxFuture<'a, Result<Box<dyn Requests>, CarrierError>> {
        async move {
            let requests = self.network.serve(route).await?;
            Ok(match &self.replies {
                None => requests,
                Some(held) => Box::new(Holding { requests, held: Arc::clone(held) }),
            })
        }
        .boxed()
    }

    fn cancel(&self, service: &str, call: &str) {
        self.network.cancel(service, call);
    }

    fn cancellations<'a>(
        &'a self,
        service: &'a str,
    ) -> BoxFuture<'a, Result<Box<dyn Cancellations>, CarrierError>> {
        self.network.cancellations(service)
    }

    fn announce<'a>(
        &'a self,
        announcement: &'a Announcement,
    ) -> BoxFuture<'a, Result<(), CarrierError>> {
        async move {
            if let Some(announcements) = &self.announcements {
                announcements.acquire().await.unwrap().forget();
            }
            self.network.announce(announcement).await
        }
        .boxed()
    }

    fn withdraw<'a>(
        &'a self,
        service: &'a str,
        instance: &'a str,
    ) -> BoxFuture<'a, Result<(), CarrierError>> {
        self.network.withdraw(service, instance)
    }

    fn watch(&self) -> BoxFuture<'_, Result<Box<dyn Watch>, CarrierError>> {
        async move {
            let watch = self.network.watch().await?;
            Ok(match &self.heard_first {
                None => watch,
                Some((first, permits)) => {
                    let (first, permits) = (first.clone().into(), Arc::clone(permits));
                    Box::new(Interrupted { first, permits, watch }) as Box<dyn Watch>
                }
            })
        }
        .boxed()
    }

    fn answer_pings<'a>(
        &'a self,
        service: &'a str,
        instance: &'a str,
    ) -> BoxFuture<'a, Result<Box<dyn Send + Sync>, CarrierError>> {
        self.network.answer_pings(service, instance)
    }

    fn ping<'a>(
        &'a self,
        service: &'a str,
        instance: &'a str,
    ) -> BoxFuture<'a, Result<(), CarrierError>> {
        self.network.ping(service, instance)
    }

    fn store<'a>(
        &'a self,
        route: &'a Route,
        id: &'a str,
        message: Message,
        limit: Duration,
    ) -> BoxFuture<'a, Result<(), CarrierError>> {
        self.network.store(route, id, message, limit)
    }

    fn consume<'a>(
        &'a self,
        route: &'a Route,
        attempts: u32,
    ) -> BoxFuture<'a, Result<Box<dyn Deliveries>, CarrierError>> {
        self.network.consume(route, attempts)
    }
}

/// A watch that hears something before all else, and then nothing for a while.
struct Interrupted {
    first: VecDeque<Presence>,
    permits: Arc<Semaphore>,
    watch: Box<dyn Watch>,
}

impl Watch for Interrupted {
    fn next(&mut self) -> BoxFuture<'_, Option<Presence>> {
        async move {
            if let Some(presence) = self.first.pop_front() {
                return Some(presence);
            }
            // Its permits come back: they are waited for once.
            drop(self.permits.acquire().await.unwrap());
            self.watch.next().await
        }
        .boxed()
    }
}

/// Requests whose replies wait.
struct Holding {
    requests: Box<dyn Requests>,
    held: Arc<Semaphore>,
}

impl Requests for Holding {
    fn next(&mut self) -> BoxFuture<'_, Option<Inbound>> {
        async move {
            let Inbound { message, reply } = self.requests.next().await?;
            let held = Arc::clone(&self.held);
            let reply = move |written| {
                async move {
                    held.acquire().await.unwrap().forget();
                    reply(written).await
                }
                .boxed()
            };
            Some(Inbound { message, reply: Box::new(reply) })
        }
        .boxed()
    }

    fn drain(&mut self) -> BoxFuture<'_, ()> {
        self.requests.drain()
    }
}

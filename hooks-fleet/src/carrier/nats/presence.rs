//! Who is there, in a key-value bucket.

use std::sync::Arc;
use std::time::Duration;

use async_nats::jetstream::kv::{self, Operation, Store};
use async_nats::jetstream::stream::{Config, DiscardPolicy, StorageType};
use futures::future::BoxFuture;
use futures::{FutureExt, StreamExt};
use tokio::time::sleep;

use super::{Inner, other};
use crate::carrier::{CarrierError, Presence, Watch};
use crate::log::logged;
use crate::wire::{self, Announcement, subject};

/// The bucket of announcements.
const BUCKET: &str = "HOOKS_PRESENCE";

/// How long is waited before what failed is tried again.
const PAUSE: Duration = Duration::from_millis(250);

/// How long is waited for an announcement of before: they may have been forgotten meanwhile.
const QUIET: Duration = Duration::from_secs(1);

/// The bucket, which the first process makes.
pub(super) async fn bucket(nats: &Inner) -> Result<Store, CarrierError> {
    if let Ok(store) = nats.jetstream.get_key_value(BUCKET).await {
        return Ok(store);
    }
    // A bucket is a stream. It is made as one, because the client's own way asks the server for
    // its account first, in whose answer a server of 2.9 lacks what the client looks for.
    let age = nats.options.presence_age;
    let config = Config {
        name: format!("KV_{BUCKET}"),
        subjects: vec![format!("$KV.{BUCKET}.>")],
        max_messages_per_subject: 1,
        max_age: age,
        duplicate_window: age.min(Duration::from_mins(2)),
        discard: DiscardPolicy::New,
        allow_rollup: true,
        deny_delete: true,
        allow_direct: true,
        storage: StorageType::File,
        num_replicas: nats.options.replicas,
        ..Config::default()
    };
    nats.create_stream(config).await?;
    nats.jetstream.get_key_value(BUCKET).await.map_err(other)
}

pub(super) async fn announce(
    nats: &Inner,
    announcement: &Announcement,
) -> Result<(), CarrierError> {
    let key = subject::presence(&announcement.service, &announcement.instance);
    let store = bucket(nats).await?;
    store.put(key, wire::write(announcement).into()).await.map(drop).map_err(other)
}

pub(super) async fn withdraw(
    nats: &Inner,
    service: &str,
    instance: &str,
) -> Result<(), CarrierError> {
    let key = subject::presence(service, instance);
    bucket(nats).await?.delete(key).await.map_err(other)
}

pub(super) async fn watch(nats: &Arc<Inner>) -> Result<Box<dyn Watch>, CarrierError> {
    let mut watch = NatsWatch {
        nats: Arc::clone(nats),
        heard: None,
        losses: nats.connection.losses(),
        is_complete: false,
        is_current: false,
        failure: None,
    };
    watch.heard = Some(watch.begin().await?);
    Ok(Box::new(watch))
}

/// Follows the bucket, and begins anew when the connection was lost: what happened meanwhile
/// is in the bucket.
struct NatsWatch {
    nats: Arc<Inner>,
    heard: Option<kv::Watch>,
    losses: u64,
    /// Whether all have come that were there at first.
    is_complete: bool,
    /// Whether that was said.
    is_current: bool,
    /// How the last try to begin failed, if it did, which was said then.
    failure: Option<CarrierError>,
}

impl NatsWatch {
    async fn begin(&mut self) -> Result<kv::Watch, CarrierError> {
        self.losses = self.nats.connection.losses();
        let store = bucket(&self.nats).await?;
        store.watch_with_history(">").await.map_err(other)
    }
}

/// What an entry of the bucket says. The server lets a user write its own keys only: the key
/// says who it is.
fn read(entry: &kv::Entry) -> Presence {
    let mut names = entry.key.split('.').map(subject::text);
    let (Some(Some(service)), Some(Some(instance)), None) =
        (names.next(), names.next(), names.next())
    else {
        let why = "its key is not that of an announcement".to_owned();
        return Presence::Refused(entry.key.clone(), String::new(), why);
    };
    if entry.operation != Operation::Put {
        return Presence::Gone(service, instance);
    }
    match wire::read::<Announcement>(&entry.value) {
        Ok(said) if (&said.service, &said.instance) == (&service, &instance) => {
            Presence::Here(said)
        }
        Ok(_) => {
            let why = "it announces another process than the one whose key it writes".to_owned();
            Presence::Refused(service, instance, why)
        }
        Err(error) => Presence::Refused(service, instance, format!("its announcement: {error}")),
    }
}

impl Watch for NatsWatch {
    fn next(&mut self) -> BoxFuture<'_, Option<Presence>> {
        async move {
            loop {
                if self.is_complete && !self.is_current {
                    self.is_current = true;
                    return Some(Presence::Current);
                }
                let Some(heard) = &mut self.heard else {
                    match self.begin().await {
                        Ok(heard) => (self.heard, self.failure) = (Some(heard), None),
                        Err(error) => {
                            if self.failure.as_ref() != Some(&error) {
                                logged(
                                    || tracing::warn!(%error, "it cannot be heard who is there"),
                                );
                                self.failure = Some(error);
                            }
                            sleep(PAUSE).await;
                        }
                    }
                    continue;
                };
                let (is_current, nats) = (self.is_current, Arc::clone(&self.nats));
                tokio::select! {
                    entry = heard.next() => if let Some(Ok(entry)) = entry {
                        self.is_complete |= entry.delta == 0;
                        return Some(read(&entry));
                    } else {
                        self.heard = None;
                        sleep(PAUSE).await;
                    },
                    () = nats.connection.lost_since(self.losses) => self.heard = None,
                    // What was there may have been forgotten before it came.
                    () = settled(&nats, is_current) => self.is_complete = true,
                }
            }
        }
        .boxed()
    }
}

/// Ends when all that was in the bucket has come, which is at once where there is nothing.
async fn settled(nats: &Inner, is_current: bool) {
    if is_current {
        std::future::pending::<()>().await;
    }
    let is_empty = match bucket(nats).await {
        Ok(store) => store.status().await.is_ok_and(|status| status.values() == 0),
        Err(_) => false,
    };
    if !is_empty {
        sleep(QUIET).await;
    }
}

//! What does a void fire cost whose handlers finish at once?

use std::hint::black_box;

use futures::StreamExt;
use futures::future::join_all;
use futures::stream::FuturesUnordered;
use tokio::sync::broadcast;

use crate::annotated;
use crate::measure::clock::{Contender, Effort, measure};
use crate::measure::table::Table;
#[cfg(feature = "bevy")]
use crate::peers::bevy::Observers;
use crate::peers::names::{
    ANNOTATED, AWAITS, BOXED, BROADCAST, DYN_FN, JOIN_ALL, READY, STATIC, SYNC, UNORDERED,
};
use crate::peers::{boxed, boxed_async};
use crate::points::{Form, TELL, Tell, TellPayload, tell, tell_ready, tellers, work};
use crate::questions::{COUNTS, FINE, handlers};

pub(crate) fn tables(effort: Effort) -> Vec<Table> {
    COUNTS.iter().map(|&count| table(effort, count)).collect()
}

/// The answer for so many handlers.
pub(crate) fn table(effort: Effort, count: usize) -> Table {
    let (calls, futures) = (boxed(count, tell), &boxed_async!(count, TellPayload, tell_ready));
    let (sync, ready) = (tellers(count, Form::Sync), tellers(count, Form::Ready));
    // A receiver more keeps the channel open where there is no other.
    let (sender, _open) = broadcast::channel(1);
    let mut receivers: Vec<_> = (0..count).map(|_| sender.subscribe()).collect();
    #[cfg(feature = "bevy")]
    let mut observers = Observers::new(count);
    let annotated = annotated::eight();
    let mut contenders = vec![
        Contender::call(STATIC, || (0..count).for_each(|_| tell(black_box(&TELL)))),
        Contender::call(DYN_FN, || calls.iter().for_each(|call| call(black_box(&TELL)))),
        Contender::fire(SYNC, async || {
            sync.fire_void::<Tell>(black_box(&TELL)).await.expect(FINE);
        }),
        Contender::fire(READY, async || {
            ready.fire_void::<Tell>(black_box(&TELL)).await.expect(FINE);
        }),
        Contender::fire(AWAITS, async || {
            for _ in 0..count {
                tell_ready(black_box(&TELL)).await;
            }
        }),
        Contender::fire(BOXED, async || {
            for future in futures {
                future(black_box(&TELL)).await;
            }
        }),
        Contender::fire(JOIN_ALL, async || {
            join_all(futures.iter().map(|future| future(black_box(&TELL)))).await;
        }),
        Contender::fire(UNORDERED, async || {
            let all = futures.iter().map(|future| future(black_box(&TELL)));
            let mut all: FuturesUnordered<_> = all.collect();
            while all.next().await.is_some() {}
        }),
        Contender::fire(BROADCAST, async || {
            sender.send(black_box(1)).expect("a receiver is there");
            for receiver in &mut receivers {
                work(receiver.recv().await.expect("nothing was missed"));
            }
        }),
        #[cfg(feature = "bevy")]
        Contender::call(crate::peers::names::BEVY, || observers.tell(black_box(1))),
    ];
    if count == 8 {
        contenders.push(Contender::fire(ANNOTATED, async || {
            annotated.fire_void::<Tell>(black_box(&TELL)).await.expect(FINE);
        }));
    }
    let question = format!("void, done at once, {}", handlers(count));
    Table::new(question, DYN_FN, measure(effort, contenders))
}

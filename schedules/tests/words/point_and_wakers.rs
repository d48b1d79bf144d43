//! The state of a point, and the wakers of pending calls.

use std::future::poll_fn;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::task::Poll;

use loom::future::block_on;
use loom::thread;

use crate::engine::raw::NodeId;
use crate::interest::{Interest, NO_MARKS, PointState};
use crate::ready_set::ReadySet;
use crate::{Memory, every_schedule, most_schedules};

#[test]
fn l24_a_thread_that_sees_a_handler_sees_its_list() {
    every_schedule("a length is published after its list, beside a first fire", || {
        let (point, list) = (Arc::new(PointState::new(NO_MARKS)), Memory::new());
        let fires: Vec<_> = (0..2)
            .map(|_| {
                let (point, list) = (Arc::clone(&point), Arc::clone(&list));
                thread::spawn(move || {
                    let interest = point.interest().map_or_else(|| point.fire(|| Ok(())), Ok);
                    if interest == Ok::<_, ()>(Interest::Handlers) {
                        list.read();
                    }
                })
            })
            .collect();
        list.write();
        point.set_len(1);
        fires.into_iter().for_each(|fire| fire.join().unwrap());
        assert!(point.was_fired());
        assert!(point.has_handlers());
        point.set_len(0);
        assert!(point.is_quiet());
        assert_eq!(point.interest(), Some(Interest::Quiet));
    });
}

#[test]
fn l07_a_child_that_wakes_is_polled_again() {
    most_schedules(2, "two children wake their task while the set is polled", || {
        let ready = [(); 2].map(|()| Arc::new(loom::sync::atomic::AtomicBool::new(false)));
        let mut waking = [None, None];
        let mut ended = [false; 2];
        let mut set = ReadySet::new(vec![NodeId(0), NodeId(1)], 2);
        block_on(poll_fn(|task| {
            set.poll(task, |NodeId(index), child| {
                let (waker, ready) = (child.waker().clone(), Arc::clone(&ready[index]));
                waking[index].get_or_insert_with(|| {
                    let ready = Arc::clone(&ready);
                    thread::spawn(move || {
                        ready.store(true, Relaxed);
                        waker.wake();
                    })
                });
                ended[index] |= ready.load(Relaxed);
            });
            if ended == [true; 2] { Poll::Ready(()) } else { Poll::Pending }
        }));
        waking.into_iter().flatten().for_each(|thread| thread.join().unwrap());
    });
}

#[test]
fn l07_a_child_that_had_its_waker_before_is_polled_when_it_wakes() {
    most_schedules(2, "a child wakes its task before or while the set is polled", || {
        let ready = Arc::new(loom::sync::atomic::AtomicBool::new(false));
        let mut set = ReadySet::new(vec![NodeId(0)], 2);
        let next = set.next();
        let waker = next.clone();
        set.keep_next(NodeId(1), false);
        set.give_back(next);
        let waking = thread::spawn({
            let ready = Arc::clone(&ready);
            move || {
                ready.store(true, Relaxed);
                waker.wake();
            }
        });
        let mut ended = [false; 2];
        block_on(poll_fn(|task| {
            set.poll(task, |NodeId(index), _| ended[index] |= index == 0 || ready.load(Relaxed));
            if ended == [true; 2] { Poll::Ready(()) } else { Poll::Pending }
        }));
        waking.join().unwrap();
    });
}

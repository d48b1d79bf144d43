//! Futures that no handler has, because a handler's future borrows at least
//! its payload: those without a byte.

use std::future::Future;
use std::pin::Pin;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll, Waker};

use super::{Place, Shelf, Started, Storage};

static DROPPED: AtomicUsize = AtomicUsize::new(0);

/// Pending forever.
struct Empty;

/// Pending forever, where its address says.
#[repr(align(512))]
struct EmptyAligned;

impl Future for Empty {
    type Output = ();

    fn poll(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<()> {
        Poll::Pending
    }
}

impl Future for EmptyAligned {
    type Output = ();

    fn poll(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<()> {
        assert_eq!(std::ptr::from_ref(&*self).addr() % 512, 0);
        Poll::Pending
    }
}

impl Drop for Empty {
    fn drop(&mut self) {
        DROPPED.fetch_add(1, Ordering::Relaxed);
    }
}

impl Drop for EmptyAligned {
    fn drop(&mut self) {
        DROPPED.fetch_add(1, Ordering::Relaxed);
    }
}

fn suspend<F: Future<Output = ()> + Send>(storage: &mut Storage, make: impl FnOnce() -> F) {
    let mut task = Context::from_waker(Waker::noop());
    let Err(Started::Suspended(mut future)) =
        Place::new(storage).start(make, |()| false, |()| (), &mut task)
    else {
        panic!("it is pending");
    };
    assert!(future.poll(&mut task, |(), _| ()).is_pending());
    assert!(future.end().is_ok());
}

#[test]
fn empty_futures_are_polled_in_place_and_dropped_once() {
    let (mut storage, mut shelf) = (Storage::new(), Shelf::new(30));
    suspend(&mut storage, || Empty);
    suspend(&mut storage, || EmptyAligned);
    suspend(&mut storage, || Empty);
    // SAFETY (both): the future is gone before the shelf.
    suspend(unsafe { shelf.storage() }, || EmptyAligned);
    suspend(unsafe { shelf.storage() }, || Empty);
    assert_eq!(DROPPED.load(Ordering::Relaxed), 5);
}

/// Past the first row and the second, and moved in between.
#[test]
fn a_shelf_hands_out_no_cell_twice() {
    let mut shelf = Shelf::new(30);
    let mut cells = Vec::new();
    for _ in 0..30 {
        // SAFETY: the cell is not used once the shelf is gone.
        let cell: &mut Storage = unsafe { shelf.storage() };
        let room = cell.room_for(std::alloc::Layout::new::<[u8; 8]>());
        // SAFETY: there is room, and it is ours alone.
        unsafe { room.cast().write(cells.len()) };
        cells.push(room.cast::<usize>());
        shelf = *Box::new(shelf);
    }
    for (number, cell) in cells.iter().enumerate() {
        // SAFETY: written above, and the shelf is still there.
        assert_eq!(unsafe { cell.read() }, number);
    }
}

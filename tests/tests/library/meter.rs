//! The library that `main.rs` builds, loads, unloads and loads again: a meter
//! behind plain C functions. It has no dependencies and no thread-locals.
#![allow(unsafe_code, missing_docs)]

use std::hint::black_box;
use std::sync::atomic::{AtomicU64, Ordering::SeqCst};

/// What a meter that is there begins with.
const THERE: u64 = 0x6d65_7465_7220_6973;

/// How many meters this copy of the library has made.
static MADE: AtomicU64 = AtomicU64::new(0);

pub struct Meter {
    there: u64,
    total: AtomicU64,
}

/// Makes a meter, and says how many were made since the library was loaded.
///
/// # Safety
/// `made` is valid.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn meter_make(made: *mut u64) -> *mut Meter {
    unsafe { made.write(MADE.fetch_add(1, SeqCst) + 1) };
    Box::into_raw(Box::new(Meter { there: THERE, total: AtomicU64::new(0) }))
}

/// Adds to a meter, slowly; the total, or zero where the meter is not there.
///
/// # Safety
/// The meter is one of this library, and not dropped.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn meter_add(meter: *const Meter, n: u64) -> u64 {
    let meter = unsafe { &*meter };
    for _ in 0..black_box(200) {
        if black_box(meter.there) != THERE {
            return 0;
        }
    }
    meter.total.fetch_add(n, SeqCst) + n
}

/// Drops a meter; its total.
///
/// # Safety
/// The meter is one of this library, and not used afterwards.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn meter_drop(meter: *mut Meter) -> u64 {
    let mut meter = unsafe { Box::from_raw(meter) };
    meter.there = 0;
    meter.total.load(SeqCst)
}

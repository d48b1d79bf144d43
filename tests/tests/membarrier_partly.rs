//! A program that may register for `membarrier` but not call it (L19): it takes the
//! way without, and waits as any other.
//!
//! The filter is set for the thread of the test alone. Setting it is unsafe.
#![cfg(all(target_os = "linux", target_pointer_width = "64", target_endian = "little"))]
#![allow(unsafe_code)]

use std::sync::Arc;

use hooks_runtime::{HookRegistry, hook_points, on};

hook_points! {
    pub void Saved { page: u32 }
}

const SAVED: SavedPayload = SavedPayload { page: 1 };

/// From here on `MEMBARRIER_CMD_PRIVATE_EXPEDITED` fails with `EPERM` on this thread.
fn forbid_the_barrier_itself() {
    const LOAD: u16 = 0x20;
    const JUMP_IF_EQUAL: u16 = 0x15;
    const RETURN: u16 = 0x06;
    const REFUSE: u32 = 0x0005_0000 | libc::EPERM as u32;
    const ALLOW: u32 = 0x7fff_0000;
    const NUMBER: u32 = 0;
    const FIRST_ARGUMENT: u32 = 16;
    const PRIVATE_EXPEDITED: u32 = 1 << 3;
    let step = |code, jt, jf, k| libc::sock_filter { code, jt, jf, k };
    let mut steps = [
        step(LOAD, 0, 0, NUMBER),
        step(JUMP_IF_EQUAL, 0, 3, libc::SYS_membarrier as u32),
        step(LOAD, 0, 0, FIRST_ARGUMENT),
        step(JUMP_IF_EQUAL, 0, 1, PRIVATE_EXPEDITED),
        step(RETURN, 0, 0, REFUSE),
        step(RETURN, 0, 0, ALLOW),
    ];
    let program = libc::sock_fprog { len: steps.len() as u16, filter: steps.as_mut_ptr() };
    // SAFETY: the program is valid for the time of the call.
    unsafe {
        assert_eq!(libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), 0);
        assert_eq!(libc::prctl(libc::PR_SET_SECCOMP, libc::SECCOMP_MODE_FILTER, &program), 0);
        assert_eq!(libc::syscall(libc::SYS_membarrier, PRIVATE_EXPEDITED, 0, 0), -1);
    }
}

#[tokio::test]
async fn l19_a_program_that_is_refused_the_barrier_from_the_start_waits_without() {
    forbid_the_barrier_itself();
    let (hooks, kept) = (HookRegistry::new(), Arc::new(()));
    let audit = on::<Saved>().plugin("audit");
    let audits = |kept: &Arc<()>, _: &SavedPayload| assert!(Arc::strong_count(kept) > 1);
    hooks.register(audit.handler_with(Arc::clone(&kept), audits)).unwrap();
    for _ in 0..2 {
        hooks.fire_void::<Saved>(&SAVED).await.unwrap();
    }
    let removal = hooks.unregister_plugin("audit");
    assert_eq!((&removal).await.into_result(), Ok(()));
    assert_eq!(Arc::strong_count(&kept), 1);
}

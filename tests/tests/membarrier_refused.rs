//! A program that forbids `membarrier` to itself after its first fire (L19): a wait
//! that cannot know what other threads run says so, and has an end.
//!
//! The filter is set for the thread of the test alone. Setting it is unsafe.
#![cfg(all(target_os = "linux", target_pointer_width = "64"))]
#![allow(unsafe_code)]

use std::sync::Arc;
use std::time::Duration;

use hooks_runtime::{HookRegistry, hook_handlers, hook_points};

hook_points! {
    pub void Saved { page: u32 }
}

const SAVED: SavedPayload = SavedPayload { page: 1 };

struct Audit(Arc<()>);

#[hook_handlers(plugin = "audit")]
impl Audit {
    #[hook_handler(Saved)]
    fn saved(&self, _: &SavedPayload) {
        assert!(Arc::strong_count(&self.0) > 1);
    }
}

/// From here on the call fails with `EPERM` on this thread.
fn forbid_membarrier() {
    const LOAD_NUMBER: u16 = 0x20;
    const JUMP_IF_EQUAL: u16 = 0x15;
    const RETURN: u16 = 0x06;
    const REFUSE: u32 = 0x0005_0000 | libc::EPERM as u32;
    const ALLOW: u32 = 0x7fff_0000;
    let step = |code, jt, jf, k| libc::sock_filter { code, jt, jf, k };
    let mut steps = [
        step(LOAD_NUMBER, 0, 0, 0),
        step(JUMP_IF_EQUAL, 0, 1, libc::SYS_membarrier as u32),
        step(RETURN, 0, 0, REFUSE),
        step(RETURN, 0, 0, ALLOW),
    ];
    let program = libc::sock_fprog { len: steps.len() as u16, filter: steps.as_mut_ptr() };
    // SAFETY: the program is valid for the time of the call.
    unsafe {
        assert_eq!(libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), 0);
        assert_eq!(libc::prctl(libc::PR_SET_SECCOMP, libc::SECCOMP_MODE_FILTER, &program), 0);
    }
}

#[tokio::test]
async fn l19_a_wait_without_the_barrier_says_so() {
    let (hooks, kept) = (HookRegistry::new(), Arc::new(()));
    let installed = hooks.install(Audit(Arc::clone(&kept))).unwrap();
    hooks.fire_void::<Saved>(&SAVED).await.unwrap();
    forbid_membarrier();
    let removal = installed.uninstall();
    assert_eq!(removal.removed(), 1);
    hooks.fire_void::<Saved>(&SAVED).await.unwrap();
    let refused = "plugin `audit` cannot be waited for: the system call `membarrier` is refused, \
                   and was not when the first fire began; a filter of system calls is to be set \
                   before that";
    let within = removal.within(Duration::from_secs(60)).await;
    assert_eq!(within.unwrap_err().to_string(), refused);
    assert_eq!((&removal).await.into_result().unwrap_err().to_string(), refused);
    // What is not known to be unused stays.
    assert_eq!(Arc::strong_count(&kept), 2);
}

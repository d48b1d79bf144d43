//! Who the callers are, and what takes an operator: built-in, so that no route can
//! unload it and it is in every scope.

use std::collections::HashMap;

use hooks_runtime::{Judgement, Verdict, hook_handlers};
use serde::Deserialize;

use crate::access::{Access, Caller, Denied, Role};
use crate::points::Authorize;

/// The callers, by token.
#[derive(Clone, Debug, Deserialize)]
#[serde(transparent)]
pub struct Tokens(HashMap<String, Caller>);

#[hook_handlers]
impl Tokens {
    /// A rewriter: puts the caller into the request, for all that judge it.
    #[hook_handler(Authorize, priority = -100)]
    pub fn identify(&self, access: &Access) -> Verdict<Access, Denied> {
        let caller = access.token.as_ref().and_then(|token| self.0.get(token)).cloned();
        Verdict::Replace(Access { caller, ..access.clone() })
    }

    /// A guard, and the first: the others need not ask whether there is a caller.
    #[hook_handler(Authorize, guard, priority = -100)]
    pub fn known(&self, access: &Access) -> Judgement<Denied> {
        match access.caller {
            Some(_) => Judgement::Pass,
            None => Judgement::Reject(Denied::Unauthenticated),
        }
    }

    /// A guard with a condition: requests to other paths do not reach it.
    #[hook_handler(Authorize, guard, priority = -50, when = is_admin)]
    pub fn operators_only(&self, access: &Access) -> Judgement<Denied> {
        match &access.caller {
            Some(Caller { role: Role::Operator, .. }) => Judgement::Pass,
            _ => Judgement::Reject(Denied::Forbidden { needs: Role::Operator }),
        }
    }
}

/// Whether a request is about the service itself.
pub fn is_admin(access: &Access) -> bool {
    access.path.starts_with("/admin/")
}

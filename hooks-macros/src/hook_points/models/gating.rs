//! `gating`: the payload passes, rewritten or not, or is rejected.

use super::{Model, ResultRule, register};

pub(super) const MODEL: Model = Model {
    word: "gating",
    marker: "Gating",
    result: ResultRule::Reason(
        "a gating point passes its payload on and has no result of its own: remove it, or name a \
         type for the reason of a rejection, `-> Type;`",
    ),
    has_stages: false,
    example: |point, payload| {
        [
            register("gating", point, payload, "Verdict::Pass"),
            format!("let gate = hooks.fire_gating::<{}>(payload).await?;", point.ident),
        ]
    },
};

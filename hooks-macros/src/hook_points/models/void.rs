//! `void`: all handlers, and nothing to compose.

use super::{Model, ResultRule, register};

pub(super) const MODEL: Model = Model {
    word: "void",
    marker: "Void",
    result: ResultRule::None("a void point has no result: remove it or make the point `modifying`"),
    has_stages: false,
    example: |point, payload| {
        [
            register("void", point, payload, "{ /* … */ }"),
            format!("hooks.fire_void::<{}>(&payload).await?;", point.ident),
        ]
    },
};

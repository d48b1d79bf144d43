//! `claiming`: the first handler that claims.

use super::{Model, ResultRule, register};

pub(super) const MODEL: Model = Model {
    word: "claiming",
    marker: "Claiming",
    result: ResultRule::Plain,
    has_stages: false,
    example: |point, payload| {
        [
            register("claiming", point, payload, "None"),
            format!("let claim = hooks.fire_claiming::<{}>(&payload).await?;", point.ident),
        ]
    },
};

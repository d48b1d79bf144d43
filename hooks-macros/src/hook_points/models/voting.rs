//! `voting`: every handler votes. ARCHITECTURE.md walks through it.

use super::{Model, ResultRule, register};

pub(super) const MODEL: Model = Model {
    word: "voting",
    marker: "Voting",
    result: ResultRule::None("a voting point counts the votes and has no result: remove it"),
    has_stages: false,
    example: |point, payload| {
        [
            register("voting", point, payload, "true"),
            format!("let votes = hooks.fire_voting::<{}>(&payload).await?;", point.ident),
        ]
    },
};

//! `modifying`: handlers fill the fields of a result.

use super::{Model, ResultRule, register};
use crate::hook_points::model::Shape;
use crate::hook_points::structs;

pub(super) const MODEL: Model = Model {
    word: "modifying",
    marker: "Modifying",
    result: ResultRule::Merged,
    has_stages: false,
    example: |point, payload| {
        let returned = match point.result {
            Some(Shape::Fields(_)) => format!("{}::default()", structs::result_name(&point.ident)),
            _ => "None".to_owned(),
        };
        [
            register("modifying", point, payload, &returned),
            format!("let amended = hooks.fire_modifying::<{}>(&payload).await?;", point.ident),
        ]
    },
};

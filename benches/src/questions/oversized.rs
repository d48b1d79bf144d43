//! What do handlers cost whose futures are larger than the room that a fire has
//! for them?

use std::hint::black_box;

use crate::measure::clock::{Contender, Effort, measure};
use crate::measure::table::Table;
use crate::peers::boxed_async;
use crate::peers::names::{AWAITS, BOXED};
use crate::points::{
    AMEND, ASK, Amend, Ask, Form, TELL, Tell, TellPayload, amenders, askers, tell_large, tellers,
};
use crate::questions::FINE;

pub(crate) fn tables(effort: Effort) -> Vec<Table> {
    let (void, modifying) = (tellers(8, Form::Large), amenders(8, Form::Large));
    let claiming = askers(8, Form::Large);
    let futures = boxed_async!(8, TellPayload, tell_large);
    let contenders = vec![
        Contender::fire(AWAITS, async || {
            for _ in 0..8 {
                tell_large(black_box(&TELL)).await;
            }
        }),
        Contender::fire(BOXED, async || {
            for future in &futures {
                future(black_box(&TELL)).await;
            }
        }),
        Contender::fire("hooks, void", async || {
            void.fire_void::<Tell>(black_box(&TELL)).await.expect(FINE);
        }),
        Contender::fire("hooks, claiming", async || {
            let claim = claiming.fire_claiming::<Ask>(black_box(&ASK)).await.expect(FINE);
            black_box(claim.is_claimed());
        }),
        Contender::fire("hooks, modifying", async || {
            black_box(&modifying.fire_modifying::<Amend>(black_box(&AMEND)).await.expect(FINE));
        }),
    ];
    let question = "8 handlers that finish at once, with futures of a kilobyte";
    vec![Table::new(question, AWAITS, measure(effort, contenders))]
}

//! Every fault, at every model, under both policies, on every executor: what
//! comes of it stands in `matrix.txt`, word for word.
//!
//! After a change run with `UPDATE=1`, then read the difference.

mod executor;
mod fault;
mod ground;
mod hostile;
mod matrix;
mod shed;
#[path = "../support/mod.rs"]
mod support;

use std::collections::BTreeSet;

use executor::Executor;
use fault::Fault;
use ground::Model;
use hooks_runtime::FailurePolicy;

/// The committed matrix is what happens, and no combination is missing.
///
/// L07, L08, L09, L10, L11, L12, L13, L14, L15, L19, L20, L21, L24, L25, L26.
#[test]
fn l12_every_fault_comes_to_what_the_matrix_says() {
    support::keep_quiet(&shed::PANICS);
    let mut tried = BTreeSet::new();
    let mut text = String::new();
    for fault in Fault::ALL {
        text.push_str(&format!("{fault}\n"));
        for model in Model::ALL {
            for policy in [FailurePolicy::Open, FailurePolicy::Closed] {
                let mut cells = Vec::new();
                for executor in Executor::ALL {
                    cells.push((executor, matrix::cell(fault, model, policy, executor)));
                    assert!(tried.insert((fault, model, policy, executor)), "tried once");
                }
                text.push_str(&matrix::lines(model, policy, &cells));
            }
        }
        text.push('\n');
    }
    let faults = Fault::ALL.len();
    assert_eq!(tried.len(), faults * 5 * 2 * 3, "a combination is missing");
    matrix::compare("matrix.txt", &text);
    println!(
        "\nproof: fault matrix: {faults} faults x 5 models x 2 policies x 3 executors, {} cells",
        tried.len()
    );
}

/// Nesting as deep as registries allow by default fits the stack that threads
/// have by default, and the deepest that can be set fits that of a program, both
/// in the build with the largest frames.
#[test]
fn l26_the_deepest_nesting_of_every_model_fits_the_stack() {
    for (model, (depth, stack)) in
        Model::ALL.into_iter().flat_map(|model| [(model, (32, 2 << 20)), (model, (128, 8 << 20))])
    {
        let nested = move || {
            let shed = matrix::shed(Fault::FiresItself, model, FailurePolicy::Open, depth);
            let hooks = (*shed.hooks()).clone();
            futures::executor::block_on(ground::fire(model, hooks));
            let text = format!("fires are nested deeper than {depth}: ");
            let refused = shed.log.take().iter().filter(|line| line.starts_with(&text)).count();
            assert_eq!(refused, 1, "{model}");
            shed.hooks.lock().unwrap().take();
        };
        let thread = std::thread::Builder::new().stack_size(stack).spawn(nested).unwrap();
        thread.join().unwrap();
    }
}

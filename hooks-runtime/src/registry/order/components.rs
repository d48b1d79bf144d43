//! Handlers that name each other.

/// The strongly connected components of a graph, each behind all that it has
/// edges to (Tarjan's algorithm, with a stack of its own: a chain of handlers
/// may be long).
pub(super) fn targets_first(edges: &[Vec<usize>]) -> Vec<Vec<usize>> {
    let mut walk = Walk {
        number: vec![None; edges.len()],
        lowest: vec![0; edges.len()],
        on_stack: vec![false; edges.len()],
        stack: Vec::new(),
        next: 0,
        components: Vec::new(),
    };
    for start in 0..edges.len() {
        if walk.number[start].is_none() {
            walk.from(start, edges);
        }
    }
    walk.components
}

struct Walk {
    /// When each was met.
    number: Vec<Option<usize>>,
    /// The earliest that each leads back to.
    lowest: Vec<usize>,
    on_stack: Vec<bool>,
    /// Those whose component is not known yet.
    stack: Vec<usize>,
    next: usize,
    components: Vec<Vec<usize>>,
}

impl Walk {
    fn from(&mut self, start: usize, edges: &[Vec<usize>]) {
        // The way from `start`, each with how many of its edges were followed.
        let mut way = vec![(start, 0)];
        self.meet(start);
        while let Some((at, followed)) = way.last_mut() {
            let at = *at;
            if let Some(&target) = edges[at].get(*followed) {
                *followed += 1;
                match self.number[target] {
                    None => {
                        self.meet(target);
                        way.push((target, 0));
                    }
                    Some(number) if self.on_stack[target] => {
                        self.lowest[at] = self.lowest[at].min(number);
                    }
                    Some(_) => {}
                }
                continue;
            }
            way.pop();
            if let Some(&(before, _)) = way.last() {
                self.lowest[before] = self.lowest[before].min(self.lowest[at]);
            }
            if Some(self.lowest[at]) == self.number[at] {
                self.close(at);
            }
        }
    }

    fn meet(&mut self, at: usize) {
        self.number[at] = Some(self.next);
        self.lowest[at] = self.next;
        self.next += 1;
        self.on_stack[at] = true;
        self.stack.push(at);
    }

    /// The component of `at`, which leads to none before it.
    fn close(&mut self, at: usize) {
        let start = self.stack.iter().rposition(|&other| other == at);
        let component = self.stack.split_off(start.expect("it was met and not closed yet"));
        for &index in &component {
            self.on_stack[index] = false;
        }
        self.components.push(component);
    }
}

//! The order of handlers by the words of its law, with no thought of speed.

/// A handler, as far as its place goes.
#[derive(Clone, Debug)]
pub struct Placed {
    pub name: String,
    pub plugin: Option<String>,
    pub guard: bool,
    pub priority: i32,
    /// Its turn among equals.
    pub seq: u64,
    pub before: Vec<String>,
    pub after: Vec<String>,
    /// The priorities that the host allows its plugin.
    pub allowed: Option<(i32, i32)>,
    /// Whether it is being registered.
    pub new: bool,
}

/// Why constraints are not kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Why {
    Circle,
    NoPlace,
    Range(i32, i32),
}

/// The order, as indices, with those whose constraints are dropped.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Order {
    pub order: Vec<usize>,
    pub dropped: Vec<(usize, Why)>,
}

/// Why a group is refused: a circle, or one of the new handlers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refused {
    Circle,
    Handler(usize, Why),
}

/// `first` runs before `then`, as `asker` wants it.
#[derive(Clone, Copy, Debug)]
struct Wish {
    first: usize,
    then: usize,
    asker: usize,
}

impl Placed {
    fn key(&self) -> (bool, i32, u64) {
        (self.guard, self.priority, self.seq)
    }
}

/// The handlers that the one at `asker` means.
pub fn meant(all: &[Placed], asker: usize, wanted: &str) -> Vec<usize> {
    let those = |is_it: &dyn Fn(&Placed) -> bool| -> Vec<usize> {
        (0..all.len()).filter(|&at| at != asker && is_it(&all[at])).collect()
    };
    let named = |owner: Option<&str>, name: &str| {
        those(&|it: &Placed| it.plugin.as_deref() == owner && it.name == name)
    };
    match wanted.split_once('/') {
        Some((plugin, "*")) => those(&|it: &Placed| it.plugin.as_deref() == Some(plugin)),
        // Anonymous handlers are never named here.
        Some((plugin, name)) => named(Some(plugin), name),
        None => {
            let own = named(all[asker].plugin.as_deref(), wanted);
            if own.is_empty() { named(None, wanted) } else { own }
        }
    }
}

fn wishes(all: &[Placed]) -> Vec<Wish> {
    let mut wishes = Vec::new();
    for asker in 0..all.len() {
        for name in &all[asker].before {
            for then in meant(all, asker, name) {
                wishes.push(Wish { first: asker, then, asker });
            }
        }
        for name in &all[asker].after {
            for first in meant(all, asker, name) {
                wishes.push(Wish { first, then: asker, asker });
            }
        }
    }
    wishes
}

/// A handler waits for those that it must follow; of those free the lowest
/// key comes next. `None` when all that are left wait.
fn waited(all: &[Placed], mut left: Vec<usize>, wishes: &[Wish]) -> Option<Vec<usize>> {
    let mut order = Vec::new();
    while !left.is_empty() {
        let waits = |at: usize| wishes.iter().any(|it| it.then == at && left.contains(&it.first));
        let free = left.iter().copied().filter(|&at| !waits(at));
        let next = free.min_by_key(|&at| all[at].key())?;
        order.push(next);
        left.retain(|&at| at != next);
    }
    Some(order)
}

/// Rewriters, then guards, each as `one_phase` has them.
pub fn order(all: &[Placed]) -> Result<Order, Refused> {
    let mut wishes = wishes(all);
    let mut came = Order::default();
    let backwards = |it: &Wish| all[it.first].guard && !all[it.then].guard;
    let firmly = |it: &Wish| all[it.asker].plugin.is_none() || all[it.asker].new;
    if wishes.iter().any(|it| backwards(it) && firmly(it)) {
        return Err(Refused::Circle);
    }
    for at in 0..all.len() {
        if wishes.iter().any(|it| it.asker == at && backwards(it)) {
            came.dropped.push((at, Why::Circle));
        }
    }
    wishes.retain(|it| !came.dropped.iter().any(|(at, _)| *at == it.asker));
    for guard in [false, true] {
        let those: Vec<_> = (0..all.len()).filter(|&at| all[at].guard == guard).collect();
        let among: Vec<_> = wishes
            .iter()
            .copied()
            .filter(|it| all[it.first].guard == guard && all[it.then].guard == guard)
            .collect();
        one_phase(all, those, among, &mut came)?;
    }
    Ok(came)
}

fn one_phase(
    all: &[Placed],
    those: Vec<usize>,
    wishes: Vec<Wish>,
    came: &mut Order,
) -> Result<(), Refused> {
    let (host, mut plugins): (Vec<_>, Vec<_>) =
        wishes.into_iter().partition(|it| all[it.asker].plugin.is_none());
    let base = waited(all, those, &host).ok_or(Refused::Circle)?;
    for round in 1.. {
        let every: Vec<_> = host.iter().chain(&plugins).copied().collect();
        let circular = in_circles(all.len(), &every);
        let mut conflicts: Vec<(usize, Why)> = plugins
            .iter()
            .filter(|it| circular[it.first] && circular[it.then])
            .map(|it| (it.asker, Why::Circle))
            .collect();
        if conflicts.iter().any(|(at, _)| all[*at].new) {
            return Err(Refused::Circle);
        }
        if conflicts.is_empty() {
            let (order, found) = moved(all, &base, &every);
            if found.is_empty() {
                came.order.extend(order);
                return Ok(());
            }
            conflicts = found;
        }
        conflicts.sort_by_key(|(at, _)| all[*at].key());
        conflicts.dedup_by_key(|(at, _)| *at);
        if let Some((at, why)) = conflicts.iter().find(|(at, _)| all[*at].new) {
            return Err(Refused::Handler(*at, *why));
        }
        if round >= 4 {
            for it in &plugins {
                let same = |(at, _): &(usize, Why)| all[*at].plugin == all[it.asker].plugin;
                if conflicts.iter().any(same) {
                    conflicts.push((it.asker, Why::NoPlace));
                }
            }
        }
        for (at, why) in conflicts {
            if !came.dropped.iter().any(|(dropped, _)| *dropped == at) {
                came.dropped.push((at, why));
            }
        }
        plugins.retain(|it| !came.dropped.iter().any(|(at, _)| *at == it.asker));
    }
    unreachable!("each round drops one")
}

/// Which handlers are on a circle, or between two.
fn in_circles(len: usize, wishes: &[Wish]) -> Vec<bool> {
    let mut leads = vec![vec![false; len]; len];
    for it in wishes {
        leads[it.first][it.then] = true;
    }
    for via in 0..len {
        for from in 0..len {
            for to in 0..len {
                leads[from][to] |= leads[from][via] && leads[via][to];
            }
        }
    }
    let round = |at: usize| leads[at][at];
    let behind = |at: usize| (0..len).any(|it| round(it) && (it == at || leads[it][at]));
    let before = |at: usize| (0..len).any(|it| round(it) && (it == at || leads[at][it]));
    (0..len).map(|at| behind(at) && before(at)).collect()
}

/// The base order with the handlers of plugins that ask for a place moved, and
/// those whose wishes are not kept by that.
fn moved(all: &[Placed], base: &[usize], wishes: &[Wish]) -> (Vec<usize>, Vec<(usize, Why)>) {
    let moves = |at: usize| all[at].plugin.is_some() && wishes.iter().any(|it| it.asker == at);
    let fixed: Vec<_> = base.iter().copied().filter(|&at| !moves(at)).collect();
    let place = |at: usize| fixed.iter().position(|&it| it == at).unwrap();
    // The gap where it would stand: the number of fixed ones before it.
    let home =
        |at: usize| base.iter().take_while(|&&it| it != at).filter(|&&it| !moves(it)).count();
    let mut conflicts = Vec::new();
    let mut gaps: Vec<Option<usize>> = vec![None; all.len()];
    loop {
        let left: Vec<_> =
            base.iter().copied().filter(|&at| moves(at) && gaps[at].is_none()).collect();
        let waits = |at: usize| {
            wishes.iter().any(|it| {
                let target = if it.first == at { it.then } else { it.first };
                it.asker == at && left.contains(&target)
            })
        };
        let free = left.iter().copied().find(|&at| !waits(at));
        let Some(next) = free.or_else(|| left.iter().copied().min_by_key(|&at| all[at].seq)) else {
            break;
        };
        let fits = |gap: usize| {
            wishes.iter().filter(|it| it.first == next || it.then == next).all(|it| {
                let other = if it.first == next { it.then } else { it.first };
                let counts = it.asker == next
                    || all[it.asker].plugin.is_none()
                    || all[it.asker].plugin == all[next].plugin;
                match (moves(other), gaps[other]) {
                    _ if !counts => true,
                    (false, _) if it.first == next => gap <= place(other),
                    (false, _) => gap > place(other),
                    (true, None) => true,
                    (true, Some(its)) if it.first == next => gap <= its,
                    (true, Some(its)) => gap >= its,
                }
            })
        };
        let nearest =
            (0..=fixed.len()).filter(|&gap| fits(gap)).min_by_key(|&gap| gap.abs_diff(home(next)));
        if nearest.is_none() {
            conflicts.push((next, Why::NoPlace));
        }
        gaps[next] = Some(nearest.unwrap_or_else(|| home(next)));
    }
    let mut order = Vec::new();
    for gap in 0..=fixed.len() {
        let inside: Vec<_> = (0..all.len()).filter(|&at| gaps[at] == Some(gap)).collect();
        order.extend(waited(all, inside, wishes).expect("there is no circle"));
        order.extend(fixed.get(gap));
    }
    let position = |at: usize| order.iter().position(|&it| it == at).unwrap();
    for it in wishes.iter().filter(|it| moves(it.asker)) {
        if position(it.first) > position(it.then) {
            conflicts.push((it.asker, Why::NoPlace));
        }
    }
    for at in (0..all.len()).filter(|&at| moves(at)) {
        let Some((lowest, highest)) = all[at].allowed else { continue };
        let (gap, home) = (gaps[at].unwrap(), home(at));
        let stood = |it: usize| base.iter().position(|&other| other == it).unwrap();
        let asks = |first: usize, then: usize| {
            wishes.iter().any(|it| it.asker == at && it.first == first && it.then == then)
        };
        // One that moves itself counts where it stood, unless it is named.
        let passed = |&other: &usize| {
            if all[other].plugin == all[at].plugin {
                false
            } else if all[other].priority < lowest {
                let behind = gap < home && stood(other) >= stood(fixed[gap]);
                (behind && stood(other) < stood(at))
                    || (asks(at, other) && gaps[other].is_some_and(|its| its <= home))
            } else if all[other].priority > highest {
                let before = gap > home && stood(other) <= stood(fixed[gap - 1]);
                (before && stood(other) > stood(at))
                    || (asks(other, at) && gaps[other].is_some_and(|its| its >= home))
            } else {
                false
            }
        };
        if order.iter().any(passed) {
            conflicts.push((at, Why::Range(lowest, highest)));
        }
    }
    conflicts.sort_by_key(|(at, why)| (*at, matches!(why, Why::Range(..))));
    conflicts.dedup_by_key(|(at, _)| *at);
    (order, conflicts)
}

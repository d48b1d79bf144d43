//! The order of handlers by the words of its law, with no thought of speed.

/// A handler, as far as its place goes.
#[derive(Clone, Debug)]
pub struct Placed {
    pub name: String,
    pub plugin: Option<String>,
    pub guard: bool,
    pub priority: i32,
    /// Its turn among those of its priority, behind those that have none.
    pub turn: Option<&'static str>,
    /// When it was registered.
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
    fn key(&self) -> (bool, i32, Option<&'static str>, u64) {
        (self.guard, self.priority, self.turn, self.seq)
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
        // Of all handlers of a plugin those of the same phase: guards run after
        // all rewriters in any case.
        let targets = |name: &String| {
            let mut targets = meant(all, asker, name);
            let same = |target: &usize| all[*target].guard == all[asker].guard;
            targets.retain(|target| !name.ends_with("/*") || same(target));
            targets
        };
        for then in all[asker].before.iter().flat_map(targets) {
            wishes.push(Wish { first: asker, then, asker });
        }
        for first in all[asker].after.iter().flat_map(targets) {
            wishes.push(Wish { first, then: asker, asker });
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
        let (order, mut conflicts) = moved(all, &base, &every);
        if conflicts.is_empty() {
            came.order.extend(order);
            return Ok(());
        }
        conflicts.sort_by_key(|(at, _)| all[*at].key());
        if let Some((at, why)) = conflicts.iter().find(|(at, _)| all[*at].new) {
            let concerns = |it: &Wish| {
                *why == Why::Circle
                    || all[it.asker].plugin.is_none()
                    || all[it.asker].plugin == all[*at].plugin
            };
            let concerned: Vec<_> = every.iter().copied().filter(concerns).collect();
            let free = waited(all, base.clone(), &concerned);
            let why = if *why == Why::Circle { Why::NoPlace } else { *why };
            return Err(free.map_or(Refused::Circle, |_| Refused::Handler(*at, why)));
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

/// For each handler those that lead to it, by what each of them names.
fn reach(len: usize, names: impl Fn(usize, usize) -> bool) -> Vec<Vec<bool>> {
    let mut leads: Vec<Vec<bool>> =
        (0..len).map(|from| (0..len).map(|to| names(from, to)).collect()).collect();
    for via in 0..len {
        for from in 0..len {
            for to in 0..len {
                leads[from][to] |= leads[from][via] && leads[via][to];
            }
        }
    }
    leads
}

/// A place: the rank in the base of a handler that stays, then on which side of
/// it, and at which rank among those attached there, and so on.
type Place = Vec<(i8, usize)>;

/// Where a place is, compared with another: what is attached before a handler
/// comes first, then that handler, then what is attached behind it.
fn is_before(one: &Place, other: &Place) -> bool {
    for at in 0.. {
        match (one.get(at), other.get(at)) {
            (None, None) => return false,
            (None, Some((side, _))) => return *side > 0,
            (Some((side, _)), None) => return *side < 0,
            (Some(one), Some(other)) if one == other => {}
            (Some(one), Some(other)) => return one < other,
        }
    }
    unreachable!("places have an end")
}

/// The base order with the handlers of plugins that ask for a place moved, and
/// those whose wishes are not kept by that.
fn moved(all: &[Placed], base: &[usize], wishes: &[Wish]) -> (Vec<usize>, Vec<(usize, Why)>) {
    let moves = |at: usize| all[at].plugin.is_some() && wishes.iter().any(|it| it.asker == at);
    let rank = |at: usize| base.iter().position(|&it| it == at).unwrap();
    let end = |it: &Wish, one: usize| if it.first == one { it.then } else { it.first };
    let names = |from: usize, to: usize| {
        let asks = |it: &Wish| it.asker == from && end(it, from) == to;
        moves(from) && moves(to) && wishes.iter().any(asks)
    };
    let leads = reach(all.len(), names);
    let mut conflicts: Vec<(usize, Why)> = Vec::new();
    let mut places: Vec<Option<Place>> = (0..all.len())
        .map(|at| (base.contains(&at) && !moves(at)).then(|| vec![(0, rank(at))]))
        .collect();
    loop {
        let left: Vec<_> =
            base.iter().copied().filter(|&at| moves(at) && places[at].is_none()).collect();
        // Those that lead to no other, or only to those that lead back.
        let free = |at: usize| left.iter().all(|&it| !leads[at][it] || leads[it][at] || it == at);
        let free: Vec<_> = left.iter().copied().filter(|&at| free(at)).collect();
        let Some(next) = free.into_iter().min_by_key(|&at| (all[at].turn, all[at].seq)) else {
            break;
        };
        let binds = |it: &&Wish| {
            it.asker == next
                || all[it.asker].plugin.is_none()
                || all[it.asker].plugin == all[next].plugin
        };
        let bound: Vec<_> = wishes.iter().filter(binds).collect();
        let mut leaders: Vec<Place> = Vec::new();
        let mut followers: Vec<Place> = Vec::new();
        for it in bound {
            if it.then == next {
                leaders.extend(places[it.first].clone());
            } else if it.first == next {
                followers.extend(places[it.then].clone());
            }
        }
        let last = leaders.iter().find(|one| !leaders.iter().any(|it| is_before(one, it))).cloned();
        let first =
            followers.iter().find(|one| !followers.iter().any(|it| is_before(it, one))).cloned();
        let home = vec![(0, rank(next))];
        let fits = |place: &Place| {
            last.as_ref().is_none_or(|last| is_before(last, place))
                && first.as_ref().is_none_or(|first| is_before(place, first))
        };
        let attached = |to: &Option<Place>, side: i8| {
            to.clone().map(|mut place| {
                place.push((side, rank(next)));
                place
            })
        };
        let (behind, before) = (attached(&last, 1), attached(&first, -1));
        let is_early = last.as_ref().is_some_and(|last| last[0].1 > rank(next));
        let tries = if is_early { [behind, before] } else { [before, behind] };
        let tries: Vec<_> = [Some(home.clone())].into_iter().chain(tries).flatten().collect();
        let place = tries.into_iter().find(fits);
        if place.is_none() {
            let circle = last.is_some() && last == first;
            conflicts.push((next, if circle { Why::Circle } else { Why::NoPlace }));
        }
        places[next] = Some(place.unwrap_or(home));
    }
    let place = |at: usize| places[at].as_ref().unwrap();
    let mut order: Vec<usize> = base.to_vec();
    order.sort_by(|&one, &other| {
        if is_before(place(one), place(other)) {
            std::cmp::Ordering::Less
        } else if is_before(place(other), place(one)) {
            std::cmp::Ordering::Greater
        } else {
            std::cmp::Ordering::Equal
        }
    });
    let position = |at: usize| order.iter().position(|&it| it == at).unwrap();
    for it in wishes.iter().filter(|it| moves(it.asker)) {
        if position(it.first) > position(it.then) {
            let target = end(it, it.asker);
            if leads[it.asker][target] && leads[target][it.asker] {
                let round = |at: usize| leads[at][target] && leads[target][at];
                conflicts.retain(|(at, _)| !round(*at));
                conflicts.extend(base.iter().filter(|&&at| round(at)).map(|&at| (at, Why::Circle)));
            } else {
                conflicts.push((it.asker, Why::NoPlace));
            }
        }
    }
    for &at in base.iter().filter(|&&at| moves(at)) {
        let Some((lowest, highest)) = all[at].allowed else { continue };
        let root = place(at)[0].1;
        let root_is_behind = position(at) < position(base[root]);
        // One that moves itself counts where it stood, unless it is named.
        let passed = |&other: &usize| {
            let asks = |first: usize, then: usize| {
                wishes.iter().any(|it| it.asker == at && it.first == first && it.then == then)
            };
            let stood = rank(other);
            if all[other].plugin == all[at].plugin {
                false
            } else if all[other].priority < lowest {
                let behind = stood > root || (stood == root && root_is_behind);
                (behind && stood < rank(at))
                    || (moves(other) && asks(at, other) && place(other)[0].1 <= rank(at))
            } else if all[other].priority > highest {
                let before = stood < root || (stood == root && !root_is_behind);
                (before && stood > rank(at))
                    || (moves(other) && asks(other, at) && place(other)[0].1 >= rank(at))
            } else {
                false
            }
        };
        if base.iter().any(passed) {
            conflicts.push((at, Why::Range(lowest, highest)));
        }
    }
    conflicts.sort_by_key(|(at, why)| (*at, matches!(why, Why::Range(..))));
    conflicts.sort_by_key(|(at, why)| (*at, *why != Why::Circle));
    conflicts.dedup_by_key(|(at, _)| *at);
    (order, conflicts)
}

//! "Did you mean …?" for words that are not known.

/// What to add to "unknown word": the closest known word, if one is close
/// enough to be a slip, and all that are known.
pub(crate) fn hint(word: &str, known: &[&str]) -> String {
    let all = list(known);
    match closest(word, known) {
        Some(near) => format!("did you mean `{near}`? Known are {all}"),
        None => format!("known are {all}"),
    }
}

/// The known word that the written one is most likely a slip for.
pub(crate) fn closest<'a>(word: &str, known: &[&'a str]) -> Option<&'a str> {
    let word = word.to_lowercase();
    known
        .iter()
        .map(|candidate| (distance(&word, &candidate.to_lowercase()), *candidate))
        .filter(|(distance, candidate)| *distance <= (candidate.len() / 3).max(1))
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate)
}

/// `` `a`, `b` and `c` ``.
pub(crate) fn list(words: &[&str]) -> String {
    let quoted: Vec<String> = words.iter().map(|word| format!("`{word}`")).collect();
    match quoted.split_last() {
        Some((last, [])) => last.clone(),
        Some((last, rest)) => format!("{} and {last}", rest.join(", ")),
        None => String::new(),
    }
}

/// Edit distance in which swapping two neighbours is one edit, because that
/// is the most common slip of all.
fn distance(left: &str, right: &str) -> usize {
    let left: Vec<char> = left.chars().collect();
    let right: Vec<char> = right.chars().collect();
    let mut before_last: Vec<usize> = Vec::new();
    let mut last: Vec<usize> = (0..=right.len()).collect();
    for (row, &a) in left.iter().enumerate() {
        let mut current = vec![row + 1];
        for (column, &b) in right.iter().enumerate() {
            let replaced = last[column] + usize::from(a != b);
            let mut best = replaced.min(last[column + 1] + 1).min(current[column] + 1);
            if row > 0 && column > 0 && a == right[column - 1] && b == left[row - 1] {
                best = best.min(before_last[column - 1] + 1);
            }
            current.push(best);
        }
        before_last = std::mem::replace(&mut last, current);
    }
    last[right.len()]
}

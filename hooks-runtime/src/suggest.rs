//! What a misspelt name is most likely meant to be.

/// The known name that is nearest to another, if it is as near as a slip of the
/// keyboard: about one letter in three of `length`, which is that of the part in which
/// slips are expected.
pub(crate) fn nearest<K: AsRef<str>>(
    name: &str,
    known: impl Iterator<Item = K>,
    length: impl Fn(&str) -> usize,
) -> Option<K> {
    known
        .map(|known| (strsim::osa_distance(name, known.as_ref()), known))
        .filter(|(distance, known)| *distance <= (length(known.as_ref()) / 3).max(1))
        .min_by(|one, other| (one.0, one.1.as_ref()).cmp(&(other.0, other.1.as_ref())))
        .map(|(_, known)| known)
}

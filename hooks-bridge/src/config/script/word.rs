//! A word of a line, and what the shell does with it.

/// A word, without its quotes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[allow(clippy::struct_excessive_bools)] // each is a fact of its own
pub(super) struct Word {
    pub(super) text: String,
    pub(super) dollars: Dollars,
    /// Whether it stands for the files that it matches: `*.sh`, `{a,b}`.
    pub(super) matches: bool,
    /// Whether it begins with a `~` that is a folder.
    pub(super) home: bool,
    /// Whether a part of it is quoted, so that it is no number of a descriptor.
    pub(super) quoted: bool,
    /// Whether it has a variable outside of quotes, which may become several words.
    pub(super) splits: bool,
    /// Whether it is a file that is read from, not an argument.
    pub(super) input: bool,
}

/// What the `$` in a word are to the shell.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Dollars {
    /// Characters, or not there.
    #[default]
    Taken,
    /// Variables that it reads.
    Read,
    /// Some are the one, and some the other.
    Both,
}

impl Word {
    /// Adds a character that is taken as it is.
    pub(super) fn take(&mut self, char: char) {
        if char == '$' && self.dollars == Dollars::Read {
            self.dollars = Dollars::Both;
        }
        self.text.push(char);
    }

    /// Adds a `$` that is read.
    pub(super) fn read(&mut self) {
        let taken = self.dollars == Dollars::Taken && self.text.contains('$');
        let both = taken || self.dollars == Dollars::Both;
        self.dollars = if both { Dollars::Both } else { Dollars::Read };
        self.text.push('$');
    }

    /// A word that no shell reads.
    pub(super) fn plain(text: &str) -> Self {
        Self { text: text.to_owned(), ..Self::default() }
    }

    pub(super) fn is(&self, names: &[&str]) -> bool {
        names.contains(&self.text.as_str())
    }

    /// Whether a shell would work something out if it evaluated the word, which is only
    /// text where it stands: `'a[$(b)]'`.
    pub(super) fn evaluates(&self) -> bool {
        self.text.contains("$(") || self.text.contains('`')
    }

    /// What a word that sets a variable sets it to.
    pub(super) fn setting(&self) -> Option<(&str, Self)> {
        let (name, value) = self.text.split_once('=')?;
        let is_name = !name.is_empty() && name.chars().all(is_of_name);
        is_name.then(|| (name, Self { text: value.to_owned(), ..self.clone() }))
    }
}

pub(super) fn is_of_name(char: char) -> bool {
    char.is_ascii_alphanumeric() || char == '_'
}

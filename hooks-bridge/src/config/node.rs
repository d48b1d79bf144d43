//! A configuration file as values that know their lines.

/// A value, and the line on which it begins.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Node {
    pub(crate) line: usize,
    pub(crate) data: Data,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Data {
    Null,
    Bool(bool),
    Number(f64),
    Text(String),
    List(Vec<Node>),
    Table(Vec<Member>),
}

/// A key of a table, and the line on which it is.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Member {
    pub(crate) key: String,
    pub(crate) line: usize,
    pub(crate) value: Node,
}

/// Why a file cannot be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Malformed {
    pub(crate) line: usize,
    pub(crate) what: String,
}

impl Node {
    pub(crate) fn table(&self) -> Option<&[Member]> {
        match &self.data {
            Data::Table(members) => Some(members),
            _ => None,
        }
    }

    pub(crate) fn list(&self) -> Option<&[Self]> {
        match &self.data {
            Data::List(items) => Some(items),
            _ => None,
        }
    }

    pub(crate) fn text(&self) -> Option<&str> {
        match &self.data {
            Data::Text(text) => Some(text),
            _ => None,
        }
    }

    pub(crate) fn boolean(&self) -> Option<bool> {
        match self.data {
            Data::Bool(value) => Some(value),
            _ => None,
        }
    }

    pub(crate) fn get(&self, key: &str) -> Option<&Self> {
        find(self.table()?, key).map(|member| &member.value)
    }

    /// What it is, for messages.
    pub(crate) const fn what(&self) -> &'static str {
        match self.data {
            Data::Null => "null",
            Data::Bool(_) => "a boolean",
            Data::Number(_) => "a number",
            Data::Text(_) => "text",
            Data::List(_) => "a list",
            Data::Table(_) => "an object",
        }
    }
}

/// The member of that key; of several the last, as the products have it.
pub(crate) fn find<'m>(members: &'m [Member], key: &str) -> Option<&'m Member> {
    members.iter().rfind(|member| member.key == key)
}

//! TOML with lines.

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::node::{Data, Malformed, Member, Node};

/// Reads a document.
pub(crate) fn parse(text: &str) -> Result<Node, Malformed> {
    let lines = Lines::of(text);
    match DeTable::parse(text) {
        Ok(table) => {
            let line = lines.at(table.span().start);
            Ok(Node { line, data: lines.table(table.get_ref()) })
        }
        Err(error) => Err(Malformed {
            line: error.span().map_or(1, |span| lines.at(span.start)),
            what: error.message().to_owned(),
        }),
    }
}

/// Where each line ends, so that a large file is not counted through for each value.
struct Lines(Vec<usize>);

impl Lines {
    fn of(text: &str) -> Self {
        Self(text.match_indices('\n').map(|(at, _)| at).collect())
    }

    fn at(&self, offset: usize) -> usize {
        1 + self.0.partition_point(|end| *end < offset)
    }

    fn table(&self, table: &DeTable<'_>) -> Data {
        let members = table.iter().map(|(key, value)| Member {
            key: key.get_ref().clone().into_owned(),
            line: self.at(key.span().start),
            value: self.node(value),
        });
        Data::Table(members.collect())
    }

    fn node(&self, value: &Spanned<DeValue<'_>>) -> Node {
        let data = match value.get_ref() {
            DeValue::String(text) => Data::Text(text.clone().into_owned()),
            DeValue::Integer(number) => {
                Data::Number(number.to_string().parse().unwrap_or(f64::NAN))
            }
            DeValue::Float(number) => Data::Number(number.to_string().parse().unwrap_or(f64::NAN)),
            DeValue::Boolean(value) => Data::Bool(*value),
            DeValue::Datetime(time) => Data::Text(time.to_string()),
            DeValue::Array(items) => Data::List(items.iter().map(|item| self.node(item)).collect()),
            DeValue::Table(table) => self.table(table),
        };
        Node { line: self.at(value.span().start), data }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_know_their_lines() {
        let text = "model = \"m\"\n\n[[hooks.Stop]]\n[[hooks.Stop.hooks]]\ntype = \"command\"\ntimeout = 3\n";
        let node = parse(text).unwrap();
        let handler = &node.get("hooks").unwrap().get("Stop").unwrap().list().unwrap()[0];
        let handler = &handler.get("hooks").unwrap().list().unwrap()[0];
        assert_eq!(handler.get("timeout").unwrap(), &Node { line: 6, data: Data::Number(3.0) });
        assert_eq!(parse("a = 1\nb = [").unwrap_err().line, 2);
    }
}

//! What was checked, as a table.

use std::fmt;

use hooks_runtime::report::escaped;

use super::{Check, CheckedEntry, CheckedFile};

/// The widest that a column becomes.
const WIDEST: usize = 48;

impl fmt::Display for Check {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.files.is_empty() {
            return f.write_str("no configuration files\n");
        }
        for (index, file) in self.files.iter().enumerate() {
            if index > 0 {
                writeln!(f)?;
            }
            write!(f, "{file}")?;
        }
        self.endings(f)?;
        let entries = || self.files.iter().flat_map(|file| &file.entries);
        let of = |state| entries().filter(|entry| entry.state == state).count();
        let broken = self.files.iter().filter(|file| !file.errors.is_empty()).count();
        writeln!(f)?;
        let count = entries().count();
        write!(f, "{count} handler{}: ", if count == 1 { "" } else { "s" })?;
        write!(f, "{} loaded, ", of("loaded"))?;
        write!(f, "{} suspicious, {} skipped", of("suspicious"), of("skipped"))?;
        if broken > 0 {
            write!(f, "; {broken} file{} with mistakes", if broken == 1 { "" } else { "s" })?;
        }
        writeln!(f)
    }
}

impl fmt::Display for CheckedFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let file = self.file.display().to_string();
        if self.guessed {
            writeln!(f, "{} (of no known dialect; read as {})", escaped(&file), self.dialect)?;
        } else {
            writeln!(f, "{} ({})", escaped(&file), self.read_by.join(", "))?;
        }
        let rows: Vec<_> = self.entries.iter().map(cells).collect();
        let width =
            |column: usize| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0);
        let widths: [usize; 4] = std::array::from_fn(width);
        for (row, entry) in rows.iter().zip(&self.entries) {
            for (cell, width) in row.iter().zip(widths) {
                write!(f, "  {cell:width$}")?;
            }
            writeln!(f, "  {}", entry.state)?;
            for suspicion in &entry.suspicions {
                writeln!(f, "      ! line {}: {}", suspicion.line, escaped(&suspicion.text))?;
            }
            if let Some(reason) = entry.skipped.as_ref().filter(|_| entry.suspicions.is_empty()) {
                writeln!(f, "      - {}", escaped(reason))?;
            }
            for place in &entry.also {
                writeln!(f, "      = also in {place}; it runs once")?;
            }
        }
        for error in &self.errors {
            writeln!(f, "  ! line {}: {}", error.line, escaped(&error.text))?;
        }
        for notice in &self.notices {
            writeln!(f, "  - line {}: {}", notice.line, escaped(&notice.text))?;
        }
        for difference in self.differences.iter().filter(|text| ending(text).is_none()) {
            writeln!(f, "  ~ {}", escaped(difference))?;
        }
        Ok(())
    }
}

/// What differs at the end of a command: its event, and the rest.
fn ending(difference: &str) -> Option<(&str, &str)> {
    difference.starts_with('`').then(|| difference.split_once(": ")).flatten()
}

impl Check {
    /// What differs at the end of commands, once for all events of which it is true.
    fn endings(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut rows: Vec<(&str, Vec<&str>)> = Vec::new();
        for (event, rest) in
            self.files.iter().flat_map(|file| &file.differences).filter_map(|it| ending(it))
        {
            match rows.iter_mut().find(|(other, _)| *other == rest) {
                Some((_, events)) if events.contains(&event) => {}
                Some((_, events)) => events.push(event),
                None => rows.push((rest, vec![event])),
            }
        }
        if !rows.is_empty() {
            writeln!(f, "\nwhere the products differ")?;
        }
        for (rest, events) in rows {
            writeln!(f, "  ~ {}:\n      {}", escaped(&events.join(", ")), escaped(rest))?;
        }
        Ok(())
    }
}

/// Line, event, matcher and command.
fn cells(entry: &CheckedEntry) -> [String; 4] {
    let matcher = entry.matcher.as_deref().filter(|it| !it.is_empty()).unwrap_or("*");
    [
        format!("{:>3}", entry.line),
        shortened(&entry.event),
        shortened(matcher),
        shortened(&entry.command),
    ]
}

fn shortened(text: &str) -> String {
    let text = escaped(text).to_string();
    if text.chars().count() <= WIDEST {
        return text;
    }
    text.chars().take(WIDEST - 1).chain(['…']).collect()
}

//! The paths at which objects are converted: those of any kind, whatever the path.

use std::collections::BTreeSet;

use crate::webhooks::declaration::Declaration;

/// The paths at which objects are converted.
#[derive(Debug, Default)]
pub(crate) struct ConversionPaths {
    /// Those that follow from the style.
    usual: BTreeSet<String>,
    /// The one that the author gave instead.
    given: Option<&'static str>,
}

impl ConversionPaths {
    pub fn add(&mut self, declared: &Declaration) {
        self.usual.extend(declared.conversion_path());
    }

    pub fn give(&mut self, path: &'static str) {
        self.given = Some(path);
    }

    /// The path for the objects of a kind; `None` where they are not converted.
    pub fn of(&self, declared: &Declaration) -> Option<String> {
        let usual = declared.conversion_path()?;
        Some(self.given.map_or(usual, str::to_owned))
    }

    /// Those that are served.
    pub fn iter(&self) -> impl Iterator<Item = &str> {
        let usual = self.usual.iter().map(String::as_str);
        usual.filter(|_| self.given.is_none()).chain(self.given.filter(|_| !self.usual.is_empty()))
    }
}

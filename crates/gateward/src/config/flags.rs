//! Options of `serve` that one operator has and others don't.

use std::collections::BTreeMap;

/// An option that takes one value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Flag {
    /// Its name, without the dashes.
    pub name: &'static str,
    /// The placeholder of the value in the help.
    pub value_name: &'static str,
    /// One line for the help.
    pub help: &'static str,
    /// The values that may be given; none for any.
    pub values: &'static [&'static str],
}

/// The options that were given.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Flags(BTreeMap<&'static str, String>);

impl Flags {
    /// The value of an option, if it was given.
    pub fn get(&self, flag: &Flag) -> Option<&str> {
        self.0.get(flag.name).map(String::as_str)
    }
}

impl FromIterator<(&'static str, String)> for Flags {
    fn from_iter<I: IntoIterator<Item = (&'static str, String)>>(given: I) -> Self {
        Self(given.into_iter().collect())
    }
}

//! How a whole name and its two parts follow from each other.

use serde::{Deserialize, Serialize};

/// A first and a last name.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Names {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) firstname: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) lastname: Option<String>,
}

impl Names {
    /// The first space parts them; what follows it is the last name, spaces and all.
    pub(crate) fn of(whole: Option<&str>) -> Self {
        let parts = whole.map(|name| name.split_once(' ').unwrap_or((name, "")));
        let (firstname, lastname) = parts.map(|(first, last)| (first.to_owned(), last.to_owned())).unzip();
        Self { firstname, lastname }
    }

    /// Both with a space between them. Without a last name there is nothing to keep apart, so there is no space.
    pub(crate) fn whole(&self) -> Option<String> {
        match (self.firstname.as_deref(), self.lastname.as_deref()) {
            (None, None) => None,
            (first, None | Some("")) => Some(first.unwrap_or_default().to_owned()),
            (first, Some(last)) => Some(format!("{} {last}", first.unwrap_or_default())),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(first: &str, last: &str) -> Names {
        Names { firstname: Some(first.into()), lastname: Some(last.into()) }
    }

    #[test]
    fn the_first_space_parts_a_name() {
        assert_eq!(Names::of(Some("Max Muster")), names("Max", "Muster"));
        assert_eq!(Names::of(Some("Anna Maria Muster")), names("Anna", "Maria Muster"));
        assert_eq!(Names::of(Some("A  B")), names("A", " B"));
        assert_eq!(Names::of(Some("Max")), names("Max", ""));
        assert_eq!(Names::of(None), Names::default());
    }

    #[test]
    fn a_whole_name_has_no_space_without_a_last_name() {
        assert_eq!(names("Max", "").whole().as_deref(), Some("Max"));
        assert_eq!(names("", "").whole().as_deref(), Some(""));
        assert_eq!(names("", "Muster").whole().as_deref(), Some(" Muster"));
        assert_eq!(Names::default().whole(), None);
    }
}

//! Texts with words between percent signs, which are filled in.

/// The text with each word as it is given.
pub(super) fn filled(text: &str, words: &[(&str, &str)]) -> String {
    words.iter().fold(text.to_owned(), |text, (word, value)| text.replace(&format!("%{word}%"), value))
}

/// Lines, each behind so many blanks, without an end of the last one.
pub(super) fn indented(text: &str, blanks: usize) -> String {
    let lines: Vec<String> = text.lines().map(|line| format!("{:blanks$}{line}", "")).collect();
    lines.join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_filled_in_wherever_they_stand() {
        assert_eq!(filled("%a% eats %b%, %a%!", &[("a", "otter"), ("b", "%")]), "otter eats %, otter!");
    }

    #[test]
    fn lines_are_indented_alike() {
        assert_eq!(indented("a:\n- b\n", 2), "  a:\n  - b");
    }
}

//! What is measured of one file.

use std::ops::{Range, RangeInclusive};

use super::mask::masked;

/// What stands above an item that only exists in tests.
const TEST: &str = "#[cfg(test)]";

/// A function longer than this is too long, in lines.
pub const LONG_FUNCTION: usize = 60;

/// A file longer than this is too long, in lines.
const LONG_FILE: usize = 500;

/// What is measured of one file, or of many files together; tests inside a file are left out.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct Measures {
    /// Lines of each file.
    pub files: Vec<usize>,
    /// Lines of each function, from `fn` to its closing brace.
    pub functions: Vec<usize>,
    /// Lines that hold code.
    pub code_lines: usize,
    /// Lines of documentation.
    pub doc_lines: usize,
    /// Public functions, types, traits, constants and statics.
    pub public_items: usize,
    /// Those of them that have documentation.
    pub documented_items: usize,
    /// Calls of `unwrap` and `expect`.
    pub unwraps: usize,
    /// What to look at, as `file:line: what`.
    pub remarks: Vec<String>,
}

impl Measures {
    /// Measures the file called `name`.
    pub fn of(name: &str, source: &Source) -> Self {
        let public = source.public_items();
        Self {
            files: vec![source.length()],
            functions: source.functions().iter().map(|(_, lines)| *lines).collect(),
            code_lines: source.code_lines().filter(|line| !line.is_empty()).count(),
            doc_lines: source.text.lines().filter(|line| is_documentation(line)).count(),
            public_items: public.len(),
            documented_items: public.iter().filter(|line| source.is_documented(**line)).count(),
            unwraps: source.unwraps().len(),
            remarks: source.remarks().map(|(line, what)| format!("{name}:{}: {what}", line + 1)).collect(),
        }
    }

    /// Adds what was measured elsewhere.
    pub fn add(&mut self, other: &Self) {
        self.files.extend(&other.files);
        self.functions.extend(&other.functions);
        self.code_lines += other.code_lines;
        self.doc_lines += other.doc_lines;
        self.public_items += other.public_items;
        self.documented_items += other.documented_items;
        self.unwraps += other.unwraps;
        self.remarks.extend(other.remarks.iter().cloned());
    }
}

/// A file whose tests are blanked out; lines count from 0.
pub struct Source {
    text: String,
    /// The text without literals and comments.
    code: String,
    /// How many lines were blanked out.
    test_lines: usize,
    test_modules: Vec<String>,
}

impl Source {
    /// Reads the text of a file.
    pub fn new(text: &str) -> Self {
        let mut source = Self { text: text.to_owned(), code: masked(text), test_lines: 0, test_modules: Vec::new() };
        while let Some(start) = source.code.find(TEST) {
            let end = end_of_item(&source.code, start);
            source.test_modules.extend(module(&source.code[start..end]));
            source.blank(&(source.line_of(start)..=source.line_of(end)));
        }
        source
    }

    /// Names of the modules in other files that only exist in tests.
    pub fn test_modules(&self) -> &[String] {
        &self.test_modules
    }

    fn blank(&mut self, lines: &RangeInclusive<usize>) {
        for text in [&mut self.text, &mut self.code] {
            let kept = text.lines().enumerate().map(|(line, text)| if lines.contains(&line) { "" } else { text });
            *text = kept.flat_map(|line| [line, "\n"]).collect();
        }
        self.test_lines += lines.clone().count();
    }

    /// Lines without those of tests.
    fn length(&self) -> usize {
        let lines: Vec<&str> = self.text.lines().collect();
        let blank_at_end = lines.iter().rev().take_while(|line| line.trim().is_empty()).count();
        lines.len() - self.test_lines.max(blank_at_end)
    }

    fn line_of(&self, place: usize) -> usize {
        self.code[..place].matches('\n').count()
    }

    fn code_lines(&self) -> impl Iterator<Item = &str> {
        self.code.lines().map(str::trim)
    }

    /// The first line and the length of each function with a body.
    fn functions(&self) -> Vec<(usize, usize)> {
        let starts = self.code.match_indices("fn ").map(|(start, _)| start);
        let words = starts.filter(|start| !self.code[..*start].ends_with(is_word));
        let ranges = words.map(|start| start..end_of_item(&self.code, start));
        let with_body = ranges.filter(|range: &Range<usize>| self.code[range.clone()].ends_with('}'));
        with_body.map(|range| (self.line_of(range.start), self.code[range].lines().count())).collect()
    }

    fn public_items(&self) -> Vec<usize> {
        self.code_lines().enumerate().filter(|(_, code)| is_public_item(code)).map(|(line, _)| line).collect()
    }

    fn unwraps(&self) -> Vec<usize> {
        let calls = [".unwrap()", ".expect("].into_iter().flat_map(|call| self.code.match_indices(call));
        calls.map(|(place, _)| self.line_of(place)).collect()
    }

    /// What to look at, by line.
    fn remarks(&self) -> impl Iterator<Item = (usize, String)> {
        let file = (self.length() > LONG_FILE).then(|| (0, format!("{} lines", self.length())));
        let functions = self.functions().into_iter().filter(|(_, lines)| *lines > LONG_FUNCTION);
        let functions = functions.map(|(line, lines)| (line, format!("a function of {lines} lines")));
        let undocumented = self.public_items().into_iter().filter(|line| !self.is_documented(*line));
        let undocumented = undocumented.map(|line| (line, "no documentation".to_owned()));
        let unwraps = self.unwraps().into_iter().map(|line| (line, "may panic".to_owned()));
        file.into_iter().chain(functions).chain(undocumented).chain(unwraps)
    }

    /// Whether documentation stands above a line, with nothing between but attributes.
    fn is_documented(&self, line: usize) -> bool {
        let lines: Vec<(&str, &str)> = self.text.lines().map(str::trim).zip(self.code_lines()).take(line).collect();
        let mut unclosed = 0;
        for (text, code) in lines.iter().rev() {
            // In a macro the documentation comes with the other attributes.
            if unclosed == 0 && (is_documentation(text) || text.starts_with("$(#[")) {
                return true;
            }
            unclosed += balance(code);
            let attribute = unclosed > 0 || code.starts_with("#[");
            if !attribute && !text.starts_with("//") {
                return false;
            }
        }
        false
    }
}

/// The name of a module without a body.
fn module(item: &str) -> Option<String> {
    let (_, name) = item.strip_suffix(';')?.rsplit_once("mod ")?;
    Some(name.trim().to_owned())
}

fn is_word(character: char) -> bool {
    character.is_alphanumeric() || character == '_'
}

/// The end of the item that starts at `start`: its closing brace, or the semicolon of an item without a body.
fn end_of_item(code: &str, start: usize) -> usize {
    let mut braces = 0_usize;
    let mut others = 0_usize;
    for (at, found) in code[start..].char_indices() {
        match found {
            '{' => braces += 1,
            '(' | '[' => others += 1,
            ')' | ']' => others = others.saturating_sub(1),
            '}' => braces = braces.saturating_sub(1),
            _ => {}
        }
        let ended = match found {
            '}' => braces == 0,
            ';' => braces == 0 && others == 0,
            _ => false,
        };
        if ended {
            return start + at + 1;
        }
    }
    code.len()
}

fn is_documentation(line: &str) -> bool {
    ["///", "//!"].iter().any(|mark| line.trim_start().starts_with(mark))
}

/// Modules are left out: their documentation stands in their own file.
fn is_public_item(code: &str) -> bool {
    let Some(item) = code.strip_prefix("pub ") else { return false };
    let qualifiers = ["const ", "async ", "unsafe ", "extern "];
    let words = ["fn ", "struct ", "enum ", "trait ", "type ", "static ", "union "];
    let bare = qualifiers.iter().fold(item, |item, qualifier| item.strip_prefix(qualifier).unwrap_or(item));
    item.starts_with("const ") || words.iter().any(|word| bare.starts_with(word))
}

/// How many more brackets a line closes than it opens.
fn balance(code: &str) -> i32 {
    code.chars().map(|c| i32::from(matches!(c, ']' | ')')) - i32::from(matches!(c, '[' | '('))).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn measured(text: &str) -> Measures {
        Measures::of("f.rs", &Source::new(text))
    }

    #[test]
    fn counts_a_function_from_its_word_to_its_brace() {
        let measures = measured("/// Doc.\npub fn f(\n    x: u8,\n) -> u8 {\n    x\n}\n");
        assert_eq!(measures.functions, [5]);
    }

    #[test]
    fn counts_no_function_without_a_body() {
        assert_eq!(measured("trait T {\n    fn f(x: [u8; 4]);\n}\ntype F = fn(u8);\n").functions, [0; 0]);
    }

    #[test]
    fn is_not_led_astray_by_braces_in_text() {
        assert_eq!(measured("fn f() {\n    g(\"}\", '}'); // }\n}\nfn g() {}\n").functions, [3, 1]);
    }

    #[test]
    fn leaves_out_tests_inside_a_file() {
        let text =
            "fn f() {}\n\n#[cfg(test)]\nmod tests {\n    #[test]\n    fn g() {\n        h().unwrap();\n    }\n}\n";
        let measures = measured(text);
        assert_eq!(measures.files, [1]);
        assert_eq!(measures.functions, [1]);
        assert_eq!(measures.unwraps, 0);
    }

    #[test]
    fn leaves_out_a_single_item_that_only_tests_need() {
        assert_eq!(measured("#[cfg(test)]\nuse a::b;\nfn f() {}\n").code_lines, 1);
    }

    #[test]
    fn tells_documentation_from_code_and_comments() {
        let measures = measured("//! Module.\n\n/// Item.\n// Remark.\nstruct A; // end\n");
        assert_eq!((measures.doc_lines, measures.code_lines), (2, 1));
    }

    #[test]
    fn finds_public_items_without_documentation() {
        let text = "/// Doc.\n#[derive(Debug)]\n#[cfg_attr(\n    a,\n    b\n)]\npub struct A;\npub const fn f() {}\npub const B: u8 = 1;\n\
                    pub(crate) fn g() {}\npub use a::b;\npub mod c;\n";
        let measures = measured(text);
        assert_eq!((measures.public_items, measures.documented_items), (3, 1));
    }

    #[test]
    fn counts_calls_that_may_panic_but_not_their_names_elsewhere() {
        let text = "/// Calls `.unwrap()`.\n#[expect(dead_code)]\nfn f() {\n    a.unwrap();\n    b.expect(\"x.unwrap()\");\n    c.unwrap_or(1);\n}\n";
        let measures = measured(text);
        assert_eq!(measures.unwraps, 2);
        assert_eq!(measures.remarks, ["f.rs:4: may panic", "f.rs:5: may panic"]);
    }

    #[test]
    fn remarks_on_what_is_too_long() {
        let text = format!("#[cfg(test)]\nuse a;\nfn f() {{\n{}}}\n", "    g();\n".repeat(500));
        let remarks = measured(&text).remarks;
        assert_eq!(remarks, ["f.rs:1: 502 lines", "f.rs:3: a function of 502 lines"]);
    }
}

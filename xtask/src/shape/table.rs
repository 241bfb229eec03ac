//! The figures of a tree, beside those of well-kept repositories.

use std::fmt;

use super::source::{LONG_FUNCTION, Measures};

/// Figures of well-kept repositories, measured in 2026 in the same way.
pub const REFERENCES: [Row; 7] = [
    Row::reference("tower", [89, 226], [4, 14, 44], [0.0, 0.58, 84.0, 6.7]),
    Row::reference("axum", [156, 520], [6, 20, 79], [1.9, 0.37, 85.0, 2.8]),
    Row::reference("kube-rs", [212, 595], [7, 25, 86], [2.4, 0.33, 91.0, 1.9]),
    Row::reference("rustls (core)", [307, 1181], [6, 26, 95], [2.3, 0.21, 97.0, 1.7]),
    Row::reference("ripgrep", [173, 949], [4, 22, 67], [1.5, 0.21, 95.0, 2.6]),
    Row::reference("linkerd2 policy-controller", [95, 470], [14, 52, 132], [7.0, 0.03, 17.0, 3.8]),
    Row::reference("kubewarden policy-server", [120, 354], [15, 51, 178], [10.3, 0.05, 40.0, 10.8]),
];

/// The figures of one tree.
#[derive(Debug, Clone, PartialEq)]
pub struct Row<'a> {
    name: &'a str,
    /// Lines of a file: half of the files have at most the first, nine of ten at most the second.
    files: [usize; 2],
    /// Lines of a function: half, nine of ten, 99 of 100.
    functions: [usize; 3],
    long_functions_percent: f64,
    doc_lines_per_code_line: f64,
    documented_percent: f64,
    unwraps_per_thousand_lines: f64,
}

impl<'a> Row<'a> {
    const fn reference(name: &'a str, files: [usize; 2], functions: [usize; 3], others: [f64; 4]) -> Self {
        let [long_functions_percent, doc_lines_per_code_line, documented_percent, unwraps_per_thousand_lines] = others;
        Self {
            name,
            files,
            functions,
            long_functions_percent,
            doc_lines_per_code_line,
            documented_percent,
            unwraps_per_thousand_lines,
        }
    }

    /// The figures of what was measured.
    pub fn new(name: &'a str, measures: &Measures) -> Self {
        let long = measures.functions.iter().filter(|lines| **lines > LONG_FUNCTION).count();
        Self {
            name,
            files: [50, 90].map(|percent| percentile(&measures.files, percent)),
            functions: [50, 90, 99].map(|percent| percentile(&measures.functions, percent)),
            long_functions_percent: 100.0 * ratio(long, measures.functions.len()),
            doc_lines_per_code_line: ratio(measures.doc_lines, measures.code_lines),
            documented_percent: 100.0 * ratio(measures.documented_items, measures.public_items),
            unwraps_per_thousand_lines: 1000.0 * ratio(measures.unwraps, measures.code_lines),
        }
    }

    /// The heading over rows.
    pub const HEADING: &'static str = "                            file p50/p90  function p50/p90/p99  > 60 lines  doc/code  documented  unwrap+expect/1000";
}

impl fmt::Display for Row<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let files = self.files.map(|lines| lines.to_string()).join(" / ");
        let functions = self.functions.map(|lines| lines.to_string()).join(" / ");
        write!(f, "{:<27} {files:>12}  {functions:>20}", self.name)?;
        write!(f, "  {:>8.1} %  {:>8.2}", self.long_functions_percent, self.doc_lines_per_code_line)?;
        write!(f, "  {:>8.0} %  {:>18.1}", self.documented_percent, self.unwraps_per_thousand_lines)
    }
}

/// The least value that so many percent of the values don't exceed.
fn percentile(values: &[usize], percent: usize) -> usize {
    let mut sorted = values.to_vec();
    sorted.sort_unstable();
    let rank = (sorted.len() * percent).div_ceil(100);
    sorted.get(rank.saturating_sub(1)).copied().unwrap_or_default()
}

/// A share; of nothing it is nothing.
fn ratio(part: usize, whole: usize) -> f64 {
    let exact = |count: usize| f64::from(u32::try_from(count).unwrap_or(u32::MAX));
    if whole == 0 { 0.0 } else { exact(part) / exact(whole) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_values_that_occur() {
        let values = [5, 1, 4, 2, 3];
        assert_eq!([50, 90, 99].map(|percent| percentile(&values, percent)), [3, 5, 5]);
        assert_eq!(percentile(&[7], 50), 7);
        assert_eq!(percentile(&[], 50), 0);
    }

    #[test]
    fn a_row_stands_under_its_heading() {
        let measures = Measures {
            files: vec![10, 20],
            functions: vec![3, 61],
            code_lines: 200,
            doc_lines: 50,
            public_items: 4,
            documented_items: 3,
            unwraps: 1,
            remarks: Vec::new(),
        };
        let row = Row::new("otter", &measures).to_string();
        let expected = "otter                            10 / 20           3 / 61 / 61      50.0 %      0.25        75 %                 5.0";
        assert_eq!(row, expected);
        assert_eq!(row.len(), Row::HEADING.len());
    }

    #[test]
    fn an_empty_tree_has_figures_too() {
        let row = Row::new("empty", &Measures::default()).to_string();
        assert!(row.ends_with("0.0 %      0.00         0 %                 0.0"), "{row}");
    }
}

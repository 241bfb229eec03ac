//! Lines on logarithmic axes, as SVG: what grows linearly is a straight line at 45 degrees.

use std::fmt::Write as _;

/// A curve.
pub struct Line {
    /// What it is of.
    pub name: &'static str,
    /// How many there are, and what that takes; both above zero.
    pub points: Vec<(f64, f64)>,
}

/// A diagram.
pub struct Panel {
    /// What is shown, with its unit.
    pub title: &'static str,
    pub lines: Vec<Line>,
}

/// Pixels of a decade, and around a diagram.
const DECADE: f64 = 60.0;
const MARGIN: f64 = 85.0;
const COLOURS: [&str; 4] = ["#1f77b4", "#d62728", "#2ca02c", "#9467bd"];

/// The diagrams beside each other.
pub fn svg(panels: &[Panel]) -> String {
    let (mut left, mut height, mut drawn) = (0.0, 0.0_f64, String::new());
    for panel in panels {
        let (width, tall, text) = panel.draw(left);
        (left, height) = (left + width, height.max(tall));
        drawn.push_str(&text);
    }
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {left} {height}\" font-family=\"sans-serif\" \
         font-size=\"11\">\n<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n{drawn}</svg>\n"
    )
}

/// The whole decades around all values.
fn decades(values: impl Iterator<Item = f64> + Clone) -> (i32, i32) {
    let low = values.clone().fold(f64::MAX, f64::min).log10().floor();
    let high = values.fold(f64::MIN_POSITIVE, f64::max).log10().ceil();
    (low as i32, (high as i32).max(low as i32 + 1))
}

impl Panel {
    /// Width, height, and what is drawn.
    fn draw(&self, left: f64) -> (f64, f64, String) {
        let points = self.lines.iter().flat_map(|line| &line.points);
        let ((x_low, x_high), (y_low, y_high)) =
            (decades(points.clone().map(|point| point.0)), decades(points.map(|point| point.1)));
        let (wide, tall) = (f64::from(x_high - x_low) * DECADE, f64::from(y_high - y_low) * DECADE);
        let x = |value: f64| left + MARGIN + (value.log10() - f64::from(x_low)) * DECADE;
        let y = |value: f64| MARGIN + (f64::from(y_high) - value.log10()) * DECADE;
        let (x_end, y_end) = (left + MARGIN + wide, MARGIN + tall);
        let mut text = String::new();
        let _ = writeln!(text, "<text x=\"{}\" y=\"20\" font-weight=\"bold\">{}</text>", left + MARGIN, self.title);
        for decade in x_low..=x_high {
            let (at, label) = (x(10f64.powi(decade)), 10f64.powi(decade));
            let _ = writeln!(text, "<path d=\"M{at} {MARGIN}V{y_end}\" stroke=\"#ddd\"/>");
            let _ = writeln!(text, "<text x=\"{at}\" y=\"{}\" text-anchor=\"middle\">{label}</text>", y_end + 16.0);
        }
        for decade in y_low..=y_high {
            let (at, label) = (y(10f64.powi(decade)), 10f64.powi(decade));
            let _ = writeln!(text, "<path d=\"M{} {at}H{x_end}\" stroke=\"#ddd\"/>", left + MARGIN);
            let (end, middle) = (left + MARGIN - 6.0, at + 4.0);
            let _ = writeln!(text, "<text x=\"{end}\" y=\"{middle}\" text-anchor=\"end\">{label}</text>");
        }
        for (line, (row, colour)) in self.lines.iter().zip((1u8..).zip(COLOURS)) {
            let points: Vec<String> =
                line.points.iter().map(|point| format!("{},{}", x(point.0), y(point.1))).collect();
            let _ = writeln!(
                text,
                "<polyline points=\"{}\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"2\"/>",
                points.join(" ")
            );
            let (start, base) = (left + MARGIN, 20.0 + f64::from(row) * 14.0);
            let _ = writeln!(text, "<text x=\"{start}\" y=\"{base}\" fill=\"{colour}\">{}</text>", line.name);
        }
        (wide + 2.0 * MARGIN, tall + 2.0 * MARGIN, text)
    }
}

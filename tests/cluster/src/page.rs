//! Commands in pages of the documentation.

/// The blocks of commands under a heading of a page, up to the next heading.
pub fn command_blocks<'p>(page: &'p str, heading: &str) -> Vec<&'p str> {
    let line = format!("{heading}\n");
    let below = page.strip_prefix(&line).or_else(|| page.split_once(&format!("\n{line}")).map(|(_, below)| below));
    assert!(below.is_some(), "no {heading}");
    let mut rest = below.and_then(|below| below.split("\n#").next()).unwrap_or_default();
    let mut blocks = Vec::new();
    while let Some((block, after)) = rest.split_once("```bash\n").and_then(|(_, after)| after.split_once("```")) {
        blocks.push(block);
        rest = after;
    }
    blocks
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_the_blocks_of_one_section() {
        let page = "# A\n\n```bash\na\n```\n\n## B\n\ntext\n```bash\nb\nc\n```\n```yaml\nd\n```\n```bash\ne\n```\n## C\n```bash\nf\n```\n";
        assert_eq!(command_blocks(page, "# A"), ["a\n"]);
        assert_eq!(command_blocks(page, "## B"), ["b\nc\n", "e\n"]);
    }
}

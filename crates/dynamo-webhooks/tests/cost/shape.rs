//! What stands where a list, a map, an object or a text is expected: many, long, deep, wide and of the wrong type.

/// A value of any size that is expensive to read.
#[derive(Clone, Copy)]
pub struct Shape {
    pub name: &'static str,
    text: fn(usize) -> String,
}

const fn shape(name: &'static str, text: fn(usize) -> String) -> Shape {
    Shape { name, text }
}

impl Shape {
    pub const ALL: [Self; 24] = [
        shape("[{},…]", |bytes| list(bytes, "{}")),
        shape("[[],…]", |bytes| list(bytes, "[]")),
        shape("[0,…]", |bytes| list(bytes, "0")),
        shape("[1.5e3,…]", |bytes| list(bytes, "1.5e3")),
        shape("[\"\",…]", |bytes| list(bytes, r#""""#)),
        shape("[null,…]", |bytes| list(bytes, "null")),
        shape("[{name},…]", |bytes| list(bytes, r#"{"name":"a"}"#)),
        shape("[{unknown},…]", |bytes| list(bytes, r#"{"":0}"#)),
        shape("[[[…]]]", |bytes| format!("{}{}", "[".repeat(bytes / 2), "]".repeat(bytes / 2))),
        shape("[deep,…]", |bytes| list(bytes, &deep(40, "1"))),
        shape("deep", |_| deep(60, "1")),
        shape("{a:0,…}", |bytes| object(bytes, "0")),
        shape("{a:{},…}", |bytes| object(bytes, "{}")),
        shape("{a:\"\",…}", |bytes| object(bytes, r#""""#)),
        shape("{a:[{}],…}", |bytes| object(bytes, "[{}]")),
        shape("{a:0,a:0,…}", |bytes| format!("{{{}}}", many(bytes, r#""a":0"#))),
        shape("\"otter\"", |bytes| format!("\"{}\"", "\u{1f9a6}".repeat(bytes / 4))),
        shape("\"a\"", |bytes| format!("\"{}\"", "a".repeat(bytes))),
        shape("\"a.b/\"", |bytes| format!("\"{}\"", "a.b/".repeat(bytes / 4))),
        shape("\"\\u0001\"", |bytes| format!("\"{}\"", r"\u0001".repeat(bytes / 6))),
        shape("\"\\\"\"", |bytes| format!("\"{}\"", r#"\""#.repeat(bytes / 2))),
        shape("{otter: 1}", |bytes| format!("{{\"{}\":1}}", "\u{1f9a6}".repeat(bytes / 4))),
        shape("5", |_| format!("5{}", "0".repeat(200))),
        shape("5…", |bytes| format!("5{}", "0".repeat(bytes))),
    ];

    /// About so large.
    pub fn text(&self, bytes: usize) -> String {
        (self.text)(bytes)
    }
}

fn list(bytes: usize, part: &str) -> String {
    format!("[{}]", many(bytes, part))
}

/// As many times `part` as there is room for, with commas between them.
pub fn many(bytes: usize, part: &str) -> String {
    let mut parts = format!("{part},").repeat(bytes / (part.len() + 1));
    parts.pop();
    parts
}

/// As many members as there is room for, all of different names.
fn object(bytes: usize, value: &str) -> String {
    let members: Vec<String> =
        (0..bytes / (value.len() + 9)).map(|number| format!(r#""{number:x}":{value}"#)).collect();
    format!("{{{}}}", members.join(","))
}

fn deep(levels: usize, leaf: &str) -> String {
    format!("{}{leaf}{}", r#"{"a":["#.repeat(levels), "]}".repeat(levels))
}

//! No file imports from a file that imports from it, directly or through others.
//!
//! What a module re-exports counts as an import from the file that defines it; a re-export itself is no import. Tests within
//! a crate's sources don't count; folders of integration tests do, but for the main file, which lists what the others have
//! and may hold what they share.

#![allow(clippy::unwrap_used, reason = "helpers of tests")]

mod sources;

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::{fs, iter};

use sources::{entries, is_no_test, root, rust_files};

type Module = Vec<String>;

/// The files of a crate by module.
struct Crate {
    modules: BTreeMap<Module, File>,
}

/// What a file imports and re-exports: absolute paths within its crate.
struct File {
    name: String,
    imports: BTreeSet<Module>,
    exports: BTreeMap<String, Module>,
}

#[test]
fn no_two_files_import_from_each_other() {
    let root = root();
    let folders = ["crates", "examples", "tests"].iter().flat_map(|group| entries(&root.join(group)));
    let roots = folders.chain([root.join("xtask")]).flat_map(|folder| {
        let tests = folder.join("tests");
        // Files that several tests share are found below the folder itself.
        let programs = entries(&tests).into_iter().filter(|entry| entry.join("main.rs").exists());
        programs.chain([folder.join("src"), tests]).collect::<Vec<_>>()
    });
    let circles: Vec<String> = roots.flat_map(|folder| Crate::read(&folder).circles()).collect();
    assert_eq!(circles, [""; 0], "{}", circles.join("\n"));
}

#[test]
fn finds_a_circle_through_a_third_file_and_behind_a_re_export() {
    let files = [
        ("lib.rs", "mod a;\nmod b;\nmod c;\npub use a::{First, Other as Second};\n"),
        ("a.rs", "use crate::b::B;\n"),
        ("b.rs", "use super::{c::{self, C}};\n#[cfg(test)]\nmod tests {\n    use crate::a::First;\n}\n"),
        ("d/mod.rs", "mod e;\npub use e::E;\nfn d() -> D {\n    e::new()\n}\n"),
        ("d/e.rs", "use super::D;\n"),
        ("c.rs", "/// See `crate::b`.\nfn c() {\n    crate::Second::new()\n}\n"),
    ];
    let read =
        files.map(|(name, text)| (module_of(Path::new(name)), File::read(name.to_owned(), Path::new(name), text)));
    assert_eq!(
        Crate { modules: read.into() }.circles(),
        ["a.rs -> b.rs -> c.rs -> a.rs", "d/mod.rs -> d/e.rs -> d/mod.rs"]
    );
}

impl Crate {
    fn read(folder: &Path) -> Self {
        let files = rust_files(folder, is_no_test).into_iter().map(|file| {
            let (text, local) = (fs::read_to_string(&file).unwrap(), file.strip_prefix(folder).unwrap());
            let mut read = File::read(file.display().to_string(), local, &text);
            if file.ends_with("main.rs") && !file.ends_with("src/main.rs") {
                read.imports.clear();
            }
            (module_of(local), read)
        });
        Self { modules: files.collect() }
    }

    /// The module whose file defines what a path names.
    fn defines(&self, path: &[String]) -> Option<&Module> {
        let mut path = path.to_vec();
        // A re-export names another path; more of them in a row than files would be one of itself.
        for _ in 0..self.modules.len() {
            let module = (0..=path.len()).rev().find_map(|length| self.modules.get_key_value(&path[..length]))?;
            match path.get(module.0.len()).and_then(|name| module.1.exports.get(name)) {
                Some(target) => path = target.iter().chain(&path[module.0.len() + 1..]).cloned().collect(),
                None => return Some(module.0),
            }
        }
        None
    }

    /// The shortest circle through each file that is in one, each circle once.
    fn circles(&self) -> Vec<String> {
        let found: BTreeSet<Vec<&Module>> = self.modules.keys().filter_map(|module| self.circle(module)).collect();
        let name = |module: &&Module| self.modules[*module].name.clone();
        found
            .iter()
            .map(|circle| circle.iter().chain(circle.first()).map(name).collect::<Vec<_>>().join(" -> "))
            .collect()
    }

    fn circle<'a>(&'a self, start: &'a Module) -> Option<Vec<&'a Module>> {
        let mut ways: Vec<Vec<&Module>> = vec![vec![start]];
        let mut seen = BTreeSet::new();
        while !ways.is_empty() {
            let mut longer = Vec::new();
            for way in ways {
                for next in self.imports(way[way.len() - 1]) {
                    if next == start {
                        return Some(turned(way));
                    }
                    if seen.insert(next) {
                        longer.push(way.iter().copied().chain([next]).collect());
                    }
                }
            }
            ways = longer;
        }
        None
    }

    fn imports<'a>(&'a self, module: &'a Module) -> impl Iterator<Item = &'a Module> {
        let defined = self.modules[module].imports.iter().filter_map(|path| self.defines(path));
        defined.filter(move |other| *other != module)
    }
}

/// The same circle from its first file on.
fn turned(mut circle: Vec<&Module>) -> Vec<&Module> {
    let first = (0..circle.len()).min_by_key(|at| circle[*at]).unwrap_or_default();
    circle.rotate_left(first);
    circle
}

impl File {
    fn read(name: String, local: &Path, text: &str) -> Self {
        let code = ["", "pub(crate) "].iter().fold(text, |code, public| {
            code.split(&format!("#[cfg(test)]\n{public}mod tests {{")).next().unwrap_or_default()
        });
        let code: String =
            code.lines().filter(|line| !line.trim_start().starts_with("//")).flat_map(|line| [line, "\n"]).collect();
        let module = module_of(local);
        let children: Vec<&str> = code.split("mod ").skip(1).filter_map(|rest| Some(rest.split_once(';')?.0)).collect();
        let (mut imports, mut exports) = (BTreeSet::new(), BTreeMap::new());
        let mut rest = code.as_str();
        while let Some((before, statement, after)) = next_use(rest) {
            imports.extend(inline_paths(before, &children, &module));
            for (path, alias) in leaves(statement).filter_map(|(path, alias)| Some((absolute(&path, &module)?, alias)))
            {
                if before.trim_end().lines().last().is_some_and(|line| line.trim_start().starts_with("pub")) {
                    exports.insert(alias, path);
                } else {
                    imports.insert(path);
                }
            }
            rest = after;
        }
        imports.extend(inline_paths(rest, &children, &module));
        Self { name, imports, exports }
    }
}

/// What stands before the next `use` statement, what it names, and what follows.
fn next_use(code: &str) -> Option<(&str, &str, &str)> {
    let is_start = |at: &usize| code[..*at].chars().next_back().is_none_or(char::is_whitespace);
    let at = code.match_indices("use ").map(|(at, _)| at).find(is_start)?;
    let end = at + code[at..].find(';')?;
    Some((&code[..at], &code[at + 4..end], &code[end + 1..]))
}

/// The paths that a `use` statement names, with the names that they get.
fn leaves(statement: &str) -> impl Iterator<Item = (Module, String)> {
    let mut found = Vec::new();
    let mut prefixes: Vec<Module> = vec![Vec::new()];
    let mut path = Module::new();
    let mut word = String::new();
    let mut alias = None;
    for char in statement.chars().chain(iter::once(',')) {
        match char {
            ':' | '{' | ',' | '}' => {
                let part = word.trim().to_owned();
                word.clear();
                match part.split_once(" as ") {
                    Some((name, renamed)) => {
                        (alias, path) = (Some(renamed.to_owned()), [path, vec![name.to_owned()]].concat());
                    }
                    None if part.is_empty() || part == "self" && !path.is_empty() => {}
                    None => path.push(part),
                }
                if char == '{' {
                    prefixes.push(path.clone());
                } else if char != ':' {
                    let prefix = prefixes.last().cloned().unwrap_or_default();
                    if path != prefix || statement.contains("self") {
                        found.push((path.clone(), alias.take().or_else(|| path.last().cloned()).unwrap_or_default()));
                    }
                    if char == '}' {
                        prefixes.pop();
                    }
                    path = prefixes.last().cloned().unwrap_or_default();
                }
            }
            other => word.push(other),
        }
    }
    found.into_iter().filter(|(path, _)| !path.is_empty())
}

/// Paths within expressions and types, from the root of the crate or from a child of the module.
fn inline_paths(code: &str, children: &[&str], module: &[String]) -> Vec<Module> {
    let is_name = |char: char| char.is_alphanumeric() || char == '_' || char == ':';
    // A visibility is no import.
    let code = code.replace("(in crate::", "(in ");
    let paths = code.split(|char| !is_name(char)).filter(|path| path.contains("::"));
    let paths = paths.map(|path| path.split("::").map(str::to_owned).collect::<Module>());
    let local = paths.filter(|path| path[0] == "crate" || children.contains(&path[0].as_str()));
    local.filter_map(|path| absolute(&path, module)).collect()
}

/// A path from the root of the crate; nothing where it names another crate.
fn absolute(path: &[String], module: &[String]) -> Option<Module> {
    let (first, rest) = path.split_first()?;
    let parent = || module.split_last().map(|(_, parent)| parent.to_vec()).unwrap_or_default();
    match first.as_str() {
        "crate" => Some(rest.to_vec()),
        "self" => Some([module, rest].concat()),
        "super" if rest.first().is_some_and(|next| next == "super") => absolute(rest, &parent()),
        "super" => Some([parent(), rest.to_vec()].concat()),
        // A child of the module, or another crate: which of the two shows when it is looked up.
        _ => Some([module, path].concat()),
    }
}

/// The module that a file is.
fn module_of(local: &Path) -> Module {
    let mut module: Module = local.with_extension("").iter().map(|part| part.to_string_lossy().into_owned()).collect();
    module.pop_if(|last| ["lib", "main", "mod"].contains(&last.as_str()));
    module
}

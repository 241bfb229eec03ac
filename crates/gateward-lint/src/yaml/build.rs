//! Builds the JSON value that kubectl would send.

use serde_json::{Map, Value};

use super::compose::Composed;
use super::finding::{SyntaxFinding, SyntaxKind};
use super::limits::MAX_DEPTH;
use super::span::Span;
use super::tree::{KeyRole, NodeId, NodeKind, Tree};

/// How much aliases may repeat in one file, in bytes of text and [`NODE_COST`] a node. The API server takes no object half
/// as large.
pub(super) const ALIAS_BUDGET: usize = 8 << 20;

/// What a repeated node costs beside its text.
const NODE_COST: usize = 16;

/// The value of the document; faults that don't keep it from being read go to `findings`. What its aliases repeat is taken
/// from `budget`.
pub(super) fn build(
    composed: &mut Composed,
    budget: &mut usize,
    findings: &mut Vec<SyntaxFinding>,
) -> Result<Value, SyntaxFinding> {
    let scalars = std::mem::take(&mut composed.scalars);
    let keep = if composed.has_aliases { Keep::All } else { Keep::Nothing };
    let mut builder = Builder { tree: &composed.tree, scalars, keep, findings, budget, within_alias: 0, odd_keys: 0 };
    if composed.tree.len() == 0 {
        return Ok(Value::Null);
    }
    builder.value(Tree::ROOT, 0)
}

struct Builder<'c> {
    tree: &'c Tree,
    scalars: Vec<Value>,
    keep: Keep,
    findings: &'c mut Vec<SyntaxFinding>,
    budget: &'c mut usize,
    within_alias: usize,
    odd_keys: usize,
}

/// Whether scalars are cloned, because an alias may read them again.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Keep {
    All,
    Nothing,
}

/// How many odd keys of one document are reported.
const MAX_ODD_KEYS: usize = 100;

impl Builder<'_> {
    fn value(&mut self, id: NodeId, depth: usize) -> Result<Value, SyntaxFinding> {
        let span = self.tree.node(id).span;
        if depth > MAX_DEPTH {
            let message = format!("nested deeper than {MAX_DEPTH} levels");
            return Err(SyntaxFinding::new(SyntaxKind::TooDeep, span, message));
        }
        match self.tree.node(id).kind {
            NodeKind::Scalar => self.scalar(id, &span),
            NodeKind::Sequence { .. } => self.sequence(id, depth),
            NodeKind::Mapping { .. } => self.mapping(id, depth).map(Value::Object),
            NodeKind::Alias(target) => self.aliased(&span, |builder| builder.value(target, depth)),
        }
    }

    fn scalar(&mut self, id: NodeId, span: &Span) -> Result<Value, SyntaxFinding> {
        let Some(scalar) = self.scalars.get_mut(id.index()) else { return Ok(Value::Null) };
        if self.keep == Keep::Nothing {
            return Ok(std::mem::take(scalar));
        }
        let (length, scalar) = (scalar.as_str().map_or(0, str::len), scalar.clone());
        self.spend(length, span)?;
        Ok(scalar)
    }

    fn sequence(&mut self, id: NodeId, depth: usize) -> Result<Value, SyntaxFinding> {
        let tree = self.tree;
        self.spend(0, &tree.node(id).span)?;
        tree.children(id).map(|item| self.value(item, depth + 1)).collect::<Result<Vec<_>, _>>().map(Value::Array)
    }

    fn mapping(&mut self, id: NodeId, depth: usize) -> Result<Map<String, Value>, SyntaxFinding> {
        let tree = self.tree;
        self.spend(0, &tree.node(id).span)?;
        let mut map = Map::new();
        for child in tree.children(id) {
            let Some(key) = tree.key(child) else { continue };
            if key.role == KeyRole::Merge {
                self.merge(id, child, &mut map, depth + 1)?;
                continue;
            }
            self.spend(key.text.len(), &key.span)?;
            let value = self.value(child, depth + 1)?;
            if map.insert(key.text.clone().into(), value).is_some() {
                self.report_duplicate(id, child);
            }
        }
        Ok(map)
    }

    /// A merged key overrides what was written before `<<` and is overridden by what follows. That is what kubectl
    /// does; the description of merge keys would have the mapping's own keys win in either order.
    fn merge(
        &mut self,
        into: NodeId,
        merged: NodeId,
        map: &mut Map<String, Value>,
        depth: usize,
    ) -> Result<(), SyntaxFinding> {
        let tree = self.tree;
        let sources = match tree.node(merged).kind {
            NodeKind::Sequence { .. } => tree.children(merged).collect(),
            _ => vec![merged],
        };
        for source in sources.into_iter().rev() {
            for (name, value) in self.merge_source(source, depth)? {
                if map.insert(name.clone(), value).is_some() {
                    self.report_overridden(into, merged, &name);
                }
            }
        }
        Ok(())
    }

    fn merge_source(&mut self, source: NodeId, depth: usize) -> Result<Map<String, Value>, SyntaxFinding> {
        let span = self.tree.node(source).span;
        let mapping = self.tree.resolved(source);
        if !matches!(self.tree.node(mapping).kind, NodeKind::Mapping { .. }) {
            let message = "`<<` takes a mapping, or a list of mappings";
            return Err(SyntaxFinding::new(SyntaxKind::Merge, span, message));
        }
        if depth > MAX_DEPTH {
            let message = format!("nested deeper than {MAX_DEPTH} levels");
            return Err(SyntaxFinding::new(SyntaxKind::TooDeep, span, message));
        }
        if mapping == source {
            return self.mapping(mapping, depth);
        }
        self.aliased(&span, |builder| builder.mapping(mapping, depth))
    }

    fn aliased<T>(
        &mut self,
        span: &Span,
        read: impl FnOnce(&mut Self) -> Result<T, SyntaxFinding>,
    ) -> Result<T, SyntaxFinding> {
        self.within_alias += 1;
        let read = self.spend(0, span).and_then(|()| read(self));
        self.within_alias -= 1;
        read.map_err(|fault| match fault.kind {
            SyntaxKind::Aliases | SyntaxKind::TooDeep => SyntaxFinding { span: *span, ..fault },
            _ => fault,
        })
    }

    /// Only what an alias repeats is counted.
    fn spend(&mut self, bytes: usize, span: &Span) -> Result<(), SyntaxFinding> {
        if self.within_alias == 0 {
            return Ok(());
        }
        match self.budget.checked_sub(bytes + NODE_COST) {
            Some(rest) => *self.budget = rest,
            None => return Err(SyntaxFinding::new(SyntaxKind::Aliases, *span, "aliases make the document too large")),
        }
        Ok(())
    }

    fn report_duplicate(&mut self, mapping: NodeId, again: NodeId) {
        let Some(key) = self.tree.key(again) else { return };
        let Some(first) = self.first_key(mapping, again, &key.text) else { return };
        let message = format!("the key {:?} stands here a second time; the last one wins", key.text);
        self.report(SyntaxKind::DuplicateKey, key.span, Some(first), message);
    }

    fn report_overridden(&mut self, mapping: NodeId, merge: NodeId, name: &str) {
        let Some(own) = self.first_key(mapping, merge, name) else { return };
        let message = format!("the `<<` below overrides {name:?}; kubectl lets the later one win");
        let merge = self.tree.key(merge).map(|key| key.span);
        self.report(SyntaxKind::OverriddenKey, own, merge, message);
    }

    fn report(&mut self, kind: SyntaxKind, span: Span, related: Option<Span>, message: String) {
        self.findings.push(SyntaxFinding { kind, span, related, message });
        self.odd_keys += 1;
    }

    /// Where the mapping itself has the key for the first time, before its child `until`; `None` also where nothing
    /// is to be reported.
    fn first_key(&self, mapping: NodeId, until: NodeId, name: &str) -> Option<Span> {
        if self.within_alias > 0 || self.odd_keys >= MAX_ODD_KEYS {
            return None;
        }
        let before = self.tree.children(mapping).take_while(|&child| child != until);
        let mut keys = before.filter_map(|child| self.tree.key(child));
        keys.find(|key| key.role == KeyRole::Member && *key.text == *name).map(|key| key.span)
    }
}

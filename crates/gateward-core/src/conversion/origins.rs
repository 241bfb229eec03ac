//! Where the nodes of a converted object stood before.

use crate::conversion::provenance::Direction;
use crate::rule::field::{FieldPath, Segment};

/// Where the nodes of a converted object stood before, for who writes the object into a file that people edit.
///
/// See [`Webhooks::origins`](crate::Webhooks::origins).
#[derive(Debug, Clone, Default)]
pub struct Origins(Vec<Direction>);

impl Origins {
    pub(crate) fn over(legs: Vec<Direction>) -> Self {
        Self(legs)
    }

    /// The path that a node of the converted object had in the source, or that of the node which it was made from, by its
    /// path in the converted one. `None` for a node without either.
    pub fn lookup(&self) -> impl Fn(&FieldPath) -> Option<FieldPath> + '_ {
        let back: Vec<_> = self.0.iter().rev().map(Direction::back).collect();
        move |path| {
            let mut segments = path.segments().to_vec();
            for leg in &back {
                segments = leg(&segments)?;
            }
            Some(FieldPath::root().join(&segments))
        }
    }
}

type Back<'a> = Box<dyn Fn(&[Segment]) -> Option<Vec<Segment>> + 'a>;

impl Direction {
    fn back(&self) -> Back<'_> {
        match self {
            Self::ToHub(provenance) => {
                Box::new(|node| provenance.counterpart(node).or_else(|| provenance.made_from(node)))
            }
            Self::FromHub(provenance) => {
                let reversed = provenance.reversed();
                Box::new(move |node| reversed.origin(node))
            }
        }
    }
}

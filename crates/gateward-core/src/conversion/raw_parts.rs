//! The parts of a JSON text, each as the text that it is: for conversions that move what both versions say alike.
//!
//! ```
//! use gateward_core::conversion::raw_parts::{items, member_at, members};
//!
//! let pod = r#"{"image":"a:1","args":["-v", "x"]}"#;
//! let parts: Vec<_> = members(pod).unwrap().iter().map(|(name, text)| format!("{name} is {text}")).collect();
//! assert_eq!(parts, [r#"args is ["-v", "x"]"#, r#"image is "a:1""#]);
//! assert_eq!(items(member_at(pod, "args").unwrap()).unwrap().len(), 2);
//! ```

pub use crate::json::members::{RawMember, items, member_at, members};

//! The hashes that OLM writes into labels and annotations.

use aws_lc_rs::digest::{SHA224, SHA256, digest};

use crate::description::WebhookDescription;

const DIGITS: &[u8; 62] = b"0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";

/// The hash of a CA, as PEM: SHA-256 in hexadecimal digits.
pub fn ca_hash(ca: &str) -> String {
    digest(&SHA256, ca.as_bytes()).as_ref().iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The hash of a description: SHA-224 of its JSON, as a number to the base 62.
///
/// The members stand in the order in which OLM's own type has them only by chance: the hash tells descriptions apart,
/// and isn't the one that OLM writes.
pub fn description_hash(webhook: &WebhookDescription) -> String {
    // A description is made of text and numbers; nothing in it fails.
    let json = serde_json::to_vec(webhook).unwrap_or_default();
    base_62(digest(&SHA224, &json).as_ref())
}

/// A number, its largest byte first, to the base 62.
fn base_62(number: &[u8]) -> String {
    let mut number = number.to_vec();
    let mut text = Vec::new();
    while number.iter().any(|byte| *byte != 0) {
        let mut rest = 0_usize;
        for byte in &mut number {
            let value = rest * 256 + usize::from(*byte);
            *byte = u8::try_from(value / 62).unwrap_or_default();
            rest = value % 62;
        }
        text.extend(DIGITS.get(rest));
    }
    if text.is_empty() {
        text.push(b'0');
    }
    text.iter().rev().map(|digit| char::from(*digit)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_written_to_the_base_62() {
        assert_eq!([base_62(&[0]), base_62(&[61]), base_62(&[62])], ["0", "Z", "10"]);
        // 256 = 4 * 62 + 8
        assert_eq!(base_62(&[1, 0]), "48");
    }
}

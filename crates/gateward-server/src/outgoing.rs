//! The bytes of a response, which own what must live until they are written.

use bytes::Bytes;

/// Bytes with a value that lives as long as they do.
struct Outgoing<T> {
    bytes: Vec<u8>,
    _held: T,
}

impl<T> AsRef<[u8]> for Outgoing<T> {
    fn as_ref(&self) -> &[u8] {
        &self.bytes
    }
}

/// The bytes of a response. `held` is dropped when all of them are written or the connection has ended.
pub(crate) fn outgoing<T: Send + 'static>(bytes: Vec<u8>, held: T) -> Bytes {
    Bytes::from_owner(Outgoing { bytes, _held: held })
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use bytes::Buf;

    use super::*;

    #[test]
    fn the_held_value_lives_until_the_last_byte_is_written() {
        let held = Arc::new(());
        let mut bytes = outgoing(b"answer".to_vec(), Arc::clone(&held));
        bytes.advance(5);
        assert_eq!(Arc::strong_count(&held), 2);
        drop(bytes);
        assert_eq!(Arc::strong_count(&held), 1);
    }
}

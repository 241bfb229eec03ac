//! The bytes of an answer on their way out.

use bytes::Bytes;

/// Bytes that keep something until they are written.
struct Outgoing<T> {
    bytes: Vec<u8>,
    _kept: T,
}

impl<T> AsRef<[u8]> for Outgoing<T> {
    fn as_ref(&self) -> &[u8] {
        &self.bytes
    }
}

/// The bytes of an answer; `kept` is dropped when they were handed to the peer, or the connection has ended.
pub(crate) fn outgoing<T: Send + 'static>(bytes: Vec<u8>, kept: T) -> Bytes {
    Bytes::from_owner(Outgoing { bytes, _kept: kept })
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use bytes::Buf;

    use super::*;

    #[test]
    fn what_is_kept_is_kept_until_the_last_byte_is_gone() {
        let kept = Arc::new(());
        let mut bytes = outgoing(b"answer".to_vec(), Arc::clone(&kept));
        bytes.advance(5);
        assert_eq!(Arc::strong_count(&kept), 2);
        drop(bytes);
        assert_eq!(Arc::strong_count(&kept), 1);
    }
}

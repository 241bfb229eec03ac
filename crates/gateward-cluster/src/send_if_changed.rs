//! Channels that tell of changes, and of nothing else.

use tokio::sync::watch;

/// Sends a value unless it is the one that was sent last: what is put together again at every event is mostly the same,
/// and whoever listens has to act on what differs.
pub fn send_if_changed<T: PartialEq>(channel: &watch::Sender<T>, value: T) {
    channel.send_if_modified(|sent| {
        let differs = *sent != value;
        if differs {
            *sent = value;
        }
        differs
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_sent_already_is_not_told_again() {
        let (channel, mut listener) = watch::channel(1);
        send_if_changed(&channel, 1);
        assert!(!listener.has_changed().unwrap());
        send_if_changed(&channel, 2);
        assert!(listener.has_changed().unwrap());
        assert_eq!(*listener.borrow_and_update(), 2);
    }
}

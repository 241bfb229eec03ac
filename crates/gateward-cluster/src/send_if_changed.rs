//! Sends a value on a watch channel only if it differs.

use tokio::sync::watch;

/// Sends a value unless it equals the last one: a status is computed at every event and is mostly the same.
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
    fn an_equal_value_is_not_sent_again() {
        let (channel, mut listener) = watch::channel(1);
        send_if_changed(&channel, 1);
        assert!(!listener.has_changed().unwrap());
        send_if_changed(&channel, 2);
        assert!(listener.has_changed().unwrap());
        assert_eq!(*listener.borrow_and_update(), 2);
    }
}

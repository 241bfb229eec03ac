//! What a webhook server does in a cluster: its Secrets, its bundles, its lease, and what it reads.

pub mod permissions;

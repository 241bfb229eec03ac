//! Certificate authorities and server certificates for webhooks.

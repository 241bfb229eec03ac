//! The TLS listener that answers reviews: limits, deadlines, drain, probes and metrics.

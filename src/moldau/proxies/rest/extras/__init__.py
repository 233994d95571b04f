"""What Confluent's API lacks: many topics in one call, reads without an instance, server-sent events, metrics."""

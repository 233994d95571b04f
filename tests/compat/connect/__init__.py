"""Kafka Connect's own transformations and converters beside ours."""

"""The registry over HTTP: Confluent's REST API, answered by one `Registry`."""

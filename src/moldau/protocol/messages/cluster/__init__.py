"""APIs about the cluster as a whole: versions, brokers, features, client telemetry. Anything may import them."""

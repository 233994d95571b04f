"""Access rules beside Kafka's own authorizer and its APIs for rules."""

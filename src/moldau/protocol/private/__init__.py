"""APIs of our own, beside Kafka's. Not advertised: only our own tools know to ask, and say so where nobody answers."""

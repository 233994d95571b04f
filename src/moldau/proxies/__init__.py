"""Doors into a Kafka cluster for clients that do not speak Kafka: REST over HTTP, and MQTT. Clients of any cluster."""

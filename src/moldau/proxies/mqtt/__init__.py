"""The MQTT proxy: MQTT 3.1.1 and 5.0 in front of the topics of any Kafka cluster.

    codec/        packets: bytes to data and back (pure)
    session/      what the proxy knows of a client: subscriptions, packets in flight, will (pure)
    mapping/      which Kafka topic, key and headers an MQTT message has, and the way back (pure)
    kafka/        writes records and the state of sessions, and reads topics
    server/       sockets, and the proxy that puts the parts together. Start at `server/proxy.py`
    settings.py   its configuration

The proxy is a client of Kafka: it talks to brokers only by the Kafka protocol and never imports the server column.
"""

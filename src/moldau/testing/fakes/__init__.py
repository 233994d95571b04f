"""A Kafka cluster in memory, with clients that have confluent-kafka's interface. Start at `fake_kafka.py`.

The public names are in `moldau.testing`; nothing else imports this package.
"""

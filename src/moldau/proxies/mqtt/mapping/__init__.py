"""Which Kafka topic, key and headers an MQTT message has, and the way back. Pure.

rules.py    rules by filter or regular expression, with templates. Start here
records.py  a message as the parts of a record, and back
"""

"""Protobuf: schemas of Connect as messages and back, as Confluent's ProtobufData maps them."""

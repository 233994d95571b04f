"""Avro: schemas of Connect as Avro's and back, as Confluent's AvroData maps them."""

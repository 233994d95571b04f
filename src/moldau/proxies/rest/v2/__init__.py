"""Version 2 of Confluent's API: topics, partitions, brokers, producing, consumer instances."""

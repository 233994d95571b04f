"""Version 3 of Confluent's API: clusters, brokers, settings, topics, access rules, groups and their lag, records."""

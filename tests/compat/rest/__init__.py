"""Published clients of Confluent's REST Proxy, against ours."""

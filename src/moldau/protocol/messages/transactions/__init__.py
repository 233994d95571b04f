"""APIs of transactions and producer ids. Anything may import them."""

"""APIs that read, write or describe partition logs. Start with `produce.py`. Anything may import them."""

"""APIs that describe and change configuration. Anything may import them."""

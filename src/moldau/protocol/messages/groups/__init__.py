"""APIs of classic, consumer and streams groups and of committed offsets. Anything may import them."""

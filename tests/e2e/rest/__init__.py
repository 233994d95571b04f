"""The REST proxy, a whole one in front of a broker."""

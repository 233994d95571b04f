"""Replication of one partition, as pure machines: no clock, socket, disk or store is touched in here."""

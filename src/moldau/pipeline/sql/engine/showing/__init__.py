"""Statements that only look: SHOW and LIST, DESCRIBE, EXPLAIN."""

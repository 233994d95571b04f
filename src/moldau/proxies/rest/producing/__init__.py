"""Writes records: one producer for the whole process, and what happened to each record."""

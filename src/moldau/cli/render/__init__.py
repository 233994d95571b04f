"""Output: tables, JSON, CSV, records, progress.

Imported by all commands; imports nothing else of the command line. Start with `output.py`.
"""

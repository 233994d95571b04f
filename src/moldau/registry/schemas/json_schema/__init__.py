"""JSON Schema: loader, content models, differences. Start at `schema.py`.

Only `schemas.parsing` imports it, on first use.
"""

"""PostgreSQL's types as Connect's: schemas, and values from PostgreSQL's texts. Pure. Start with `columns.py`."""

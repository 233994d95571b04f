"""AVRO: schemas of columns, columns of schemas, and rows in Avro's binary encoding. Pure. Start at `rows.py`."""

"""The side of Spark's Python workers. Start reading with `shift.py`. Does not import the driver's side."""

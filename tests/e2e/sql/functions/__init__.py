"""Functions of the user in Spark's workers."""

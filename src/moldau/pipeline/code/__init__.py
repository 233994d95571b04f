"""Expressions over a record as straight-line Python: a small tree, and its translation to one function.

SQL statements and the column expressions of the Streams API are both brought into this form (`tree`) and compiled once
(`source`). Pure. Imported by `plan`, `sql` and whatever else computes values of records by a description.
"""

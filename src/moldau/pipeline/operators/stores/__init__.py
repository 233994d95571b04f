"""State stores: maps of bytes that tell a host their changes. `store.py` is what they have in common; start there.

`views.py` shows them to users as keys and values. Imported by the operators, and by `views` and `spark` for the formats
of keys and values.
"""

"""What each logged statement changes: one function for each, from the definitions to a `Change`.

`sources` creates and alters streams and tables over topics, `selects` those filled by queries, `outline` is what is
logged of a query beside its text, `replacement` says what OR REPLACE may change, `topologies` sees whether a query can
run, `removal` drops and terminates, `small` has types and system properties. Imported by `changes`, and by the modules
that decide. Start reading at `logged.py`.
"""

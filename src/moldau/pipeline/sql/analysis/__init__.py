"""From what a statement says to what it means: names are looked up, types settled, ksqlDB's rules checked.

`scope` knows which columns an expression may name, `joins` and `aggregation` look at one clause each, `query` puts the
`plan` of a SELECT together. Pure. Imported by `translation` and by what executes statements. Start reading at
`query.py`.
"""

"""SQL on streams: ksqlDB's language, translated to the one plan of all pipelines.

`syntax` turns text into a tree, `analysis` gives names and types to what the tree says, `translation` makes a
`plan.Topology` of it. `types` and `functions` are what all of them share, `formats` reads and writes rows, `catalog`
is what statements define. All of these are pure; `server` is the process around them. Imported by the SQL server, the
command line's `moldau sql`, and the test driver. Start reading at `types.py`, then `syntax/tree`.
"""

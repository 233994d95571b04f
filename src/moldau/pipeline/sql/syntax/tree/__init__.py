"""What SQL text says, as frozen values. A node's position is left out when nodes are compared.

`expressions`, `relations` (queries and what they read) and `statements`; types are those of `sql.types`, or a
`NamedType` where the text names one of the user's.
"""

"""The coordination store: a tree of small versioned nodes that the brokers of a cluster agree through.

`store` is the interface, `sqlite`, `zookeeper` and `memory` implement it. `tree_layout` says what each node holds,
`image` is the tree read as one value. `broker`, `cluster` and `node` may import it. Start reading with `store` and
`tree_layout`.
"""

"""The part of the coordination tree that is about security: rules of access, and settings of users, clients, addresses.

Start with `security_tree`, which keeps it in memory and writes it. `rule_nodes` and `entity_nodes` say what each node
holds, in Kafka's layout on ZooKeeper. Used by the broker and by the node.
"""

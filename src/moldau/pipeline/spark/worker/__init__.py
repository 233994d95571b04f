"""The worker side: a slot reads ranges of offsets, runs tasks over them and commits what comes out."""

"""Applications on a Spark Connect server."""

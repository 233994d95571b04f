"""The live pipeline that `moldau up` shows: page views, enriched and counted. A Streams application like any other."""

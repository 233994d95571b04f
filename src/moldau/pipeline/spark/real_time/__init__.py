"""Real-Time Mode: plans that run in the JVM from end to end."""

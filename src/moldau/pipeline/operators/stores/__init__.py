"""State stores, each a view of one ordered map of bytes."""

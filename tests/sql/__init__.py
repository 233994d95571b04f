"""SQL over the whole surface, as files of cases."""

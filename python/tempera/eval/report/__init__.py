"""The results as a page and as tables."""

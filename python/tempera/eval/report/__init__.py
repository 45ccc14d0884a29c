"""What was found, as a page and as tables."""

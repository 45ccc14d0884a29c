"""What says whether an answer is right."""

"""Graders decide whether an answer is right."""

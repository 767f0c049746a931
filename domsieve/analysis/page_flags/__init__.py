"""Marks of pages that are likely not what was asked for: walls in front of the content, and soft 404s."""

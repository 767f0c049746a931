"""A batch of pages as columns: names, words, hashes, visibility, presentation styles, keyed tables."""

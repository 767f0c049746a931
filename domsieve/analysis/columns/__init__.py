"""Columns over the nodes of one or more pages: names, words, hashes, visibility, styles and tables of counts."""

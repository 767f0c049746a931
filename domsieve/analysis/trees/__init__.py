"""Site trees: element nodes of many pages grouped by where they stand, and the importance that follows."""

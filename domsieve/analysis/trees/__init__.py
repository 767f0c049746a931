"""Site trees: the element nodes of many pages grouped by their place in the layout, and the importance of each."""

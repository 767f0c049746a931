"""Pages without a browser: the raw source of a page as a Snapshot."""

"""The browser itself: found, started, measured, spoken to. Knows nothing of what a page holds."""

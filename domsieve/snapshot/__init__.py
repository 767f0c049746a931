"""The enriched DOM snapshot of a page, its file format and the store of captures."""

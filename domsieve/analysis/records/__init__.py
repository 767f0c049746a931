"""Data regions and records: lists of like objects in one page."""

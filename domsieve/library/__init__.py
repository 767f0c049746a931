"""The calls of the Python library: clean, records, compare, render and pages."""

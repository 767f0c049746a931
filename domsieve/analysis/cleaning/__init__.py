"""Cleaning methods that need no tree of the site."""

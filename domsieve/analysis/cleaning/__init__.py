"""Cleaning methods that work without a site tree, and the steps that run after every method."""

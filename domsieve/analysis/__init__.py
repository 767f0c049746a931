"""Cleaning methods, record miners and the writers of their results, over Snapshots."""

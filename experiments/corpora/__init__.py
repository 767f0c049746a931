"""Readers of the research corpora: pages as Snapshots, with what is known to be true of them."""

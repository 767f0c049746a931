"""What can be done with pages: find, render, store, sample, clean, mine, compare, learn, report."""

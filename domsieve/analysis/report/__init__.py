"""The report on pages and what methods make of them: one HTML file that loads nothing."""

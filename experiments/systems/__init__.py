"""What is measured: our cleaning methods and the extractors of others, under their names in the tables."""

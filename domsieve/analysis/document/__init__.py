"""The page as a document: its headings, lists, tables and quotes are kept or dropped as a whole."""

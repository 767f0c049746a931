"""Select or drop parts of pages by CSS selectors."""

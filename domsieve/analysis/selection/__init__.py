"""Parts of pages that a caller chooses by CSS selectors."""

"""Whether a page needs a browser: what its source shows, and what renderings of its site have shown."""

"""Random samples of the pages of a site."""

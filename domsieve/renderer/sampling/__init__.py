"""A random sample of the pages of a site: which are known, which may be visited, which come next."""

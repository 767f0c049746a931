"""Follow a site: keep a folder of its content in step, and tell what changed."""

"""Flags for pages that are likely not what was requested: consent walls, login walls, paywalls, soft 404s."""

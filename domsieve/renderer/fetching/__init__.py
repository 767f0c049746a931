"""Fetch pages without a browser, through the same guard, and parse them."""

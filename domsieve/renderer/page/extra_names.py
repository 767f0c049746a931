"""The names of what is kept beside a page, for whoever reads it without a browser. Imports nothing."""

SCREENSHOT, DATA = "screenshot.json", "data.json"

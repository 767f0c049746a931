"""Renders web pages with headless Chrome, keeps their content, and says why the rest was dropped."""

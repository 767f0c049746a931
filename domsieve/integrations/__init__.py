"""Integrations with other frameworks: one module for each, which alone imports its packages."""

"""Kinds of blocks by name: comments, related, tables, captions, bylines, share, breadcrumbs, navigation, consent."""

"""Recognise block types: comments, related, tables, captions, bylines, share, breadcrumbs, navigation, consent."""

"""What changed between two versions of a page: passages matched, what rotates left out."""

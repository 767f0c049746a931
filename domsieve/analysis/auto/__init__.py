"""The learned cleaner: features of blocks, boosted trees, and the choice of blocks."""

"""Pages by class across sites: grids, runs, word vectors, classifiers and clusters (SST and CST experiments)."""

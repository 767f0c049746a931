"""One page in an open tab: loaded, settled, captured and turned into a Snapshot, all under one budget."""

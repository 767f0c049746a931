"""Very many pages: shards of targets, jobs that process a shard, and engines that run them (processes, Ray)."""

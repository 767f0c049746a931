"""The service: jobs and the workers that do them, and HTTP over the store of jobs. A peer of the command line."""

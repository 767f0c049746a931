"""Jobs of the service: request models, the job store, and the workers that run jobs."""

"""Jobs of the service: what may be asked for, where jobs are kept, and who does them. Knows nothing of HTTP."""

"""Writers of what is kept and of why the rest is not, each once for all methods."""

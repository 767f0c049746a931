"""Fields of pages, learned from one to three example pages."""

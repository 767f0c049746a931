"""What a page says of itself: title, authors, dates and more, each with the place that said so."""

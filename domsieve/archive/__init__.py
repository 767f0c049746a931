"""Web archives (WARC, WACZ), compressed files and HTTP message bodies, as bytes."""

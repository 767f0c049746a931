"""The service over HTTP: the API, the web page and the server that answers. Holds no algorithm."""

"""What domsieve does, shown on a small site that is drawn in the browser."""

"""The browser process: find, start, measure and end Chrome, and talk to it."""

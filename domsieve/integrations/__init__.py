"""domsieve as a part of other frameworks: a module for each, which alone needs its packages; nothing imports them."""

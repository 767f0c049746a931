"""What methods lose and leak: on which pages, in which kinds of block, and what a cure would bring."""

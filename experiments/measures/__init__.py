"""How good a result is: the papers' figures, word scores, noise blocks, and choices that know the truth."""

def noise_removed(total_raw: int, targets_raw: int, total_pruned: int, targets_pruned: int) -> float:
    """Return the share of wrongly extracted records that pruning removed (paper, equation 4)."""
    return 1 - (total_pruned - targets_pruned) / (total_raw - targets_raw)

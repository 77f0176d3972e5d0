"""The bottom layer: folds as arrays, how counts become numerators, answers and options; knows nobody above it."""

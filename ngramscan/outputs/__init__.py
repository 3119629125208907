"""Recorded outputs of models: markers, tiers, n-grams, strategies."""

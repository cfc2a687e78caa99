"""Hybrid retrieval: keywords choose, vectors rank (rules: hybrid-retrieval)."""

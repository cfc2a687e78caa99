"""Hybrid retrieval: keywords choose, vectors rank (spec: hybrid-retrieval)."""

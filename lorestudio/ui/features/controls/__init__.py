"""Controls."""

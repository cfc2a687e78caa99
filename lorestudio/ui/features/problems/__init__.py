"""Problems."""

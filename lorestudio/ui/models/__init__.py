"""What panes show: item models with accessible texts, and Qt-free views of a trace."""

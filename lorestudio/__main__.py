"""`python -m lorestudio`: the command line."""

from lorestudio.cli import main

main()

"""`python -m judged` is the command `judged`."""

from judged.cli.main import main

main()

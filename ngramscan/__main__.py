"""`python -m ngramscan`, where the command is not on the path."""

from ngramscan.cli import main

main(prog_name="ngramscan")

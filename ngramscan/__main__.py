"""`python -m ngramscan`, where the command is not on the path."""

from ngramscan.cli import main

if __name__ == "__main__":
    main(prog_name="ngramscan")

"""`python -m evalcore`, where the command is not on the path."""

from evalcore.cli import main

if __name__ == "__main__":
    main(prog_name="evalcore")

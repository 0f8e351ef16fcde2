"""``python -m holdsup``: the command line where the `holdsup` script is not on the path."""

from holdsup.cli import main

if __name__ == "__main__":
    main(prog_name="python -m holdsup")

"""`python -m cardlab`, which torchrun starts, is the command `cardlab`."""

import sys

from cardlab.cli import main

if __name__ == "__main__":
    sys.argv[0] = "cardlab"  # for the description of runs
    sys.exit(main())

"""`python -m tempera.eval`."""

import sys

from tempera.eval.command import main

if __name__ == "__main__":
    sys.exit(main())

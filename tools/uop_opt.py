"""`uop-opt`: reads IR, runs passes, prints IR, with the manners of mlir-opt."""

import os
import sys
from collections.abc import Sequence

from .garbage import rare_collections


def main(arguments: Sequence[str] | None = None) -> int:
    """Run `uop-opt`; returns 0, 1 for an error in the input or a pass, 2 for a bad command line."""
    try:
        with rare_collections():
            # Loading xDSL takes most of the time of a small run.
            from .driver import drive

            return drive(sys.argv[1:] if arguments is None else arguments)
    except BrokenPipeError:
        # The reader has gone. Python flushes standard output at exit: let that go nowhere.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except KeyboardInterrupt:
        return 130


if __name__ == "__main__":
    sys.exit(main())

"""A kernel file that leaves the interpreter."""

import sys

sys.exit(1)

"""A kernel file that imports what is not there."""

import no_such_module  # noqa: F401

"""What a Triton layout does: linear layouts over GF(2), built from a layout's text and a shape, and what follows.

The idea is that of "Linear Layouts" (arXiv 2505.23819) and Triton's ``LinearLayout.h``: every layout over sizes
that are powers of two is a linear map over bits. Needs the standard library alone.
"""

from __future__ import annotations

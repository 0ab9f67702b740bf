"""How the C library keeps memory for numpy: what is let go of goes back to the system."""

import ctypes
import sys
from typing import Final

_ARENA_MAX: Final = -8
_MMAP_THRESHOLD: Final = -3
"""Numbers of the options, from glibc's ``malloc.h``."""
_N_ARENAS: Final = 1
_LARGE_BYTES: Final = 1 << 18


def return_freed_memory() -> None:
    """Take large arrays from the system one by one, and the rest from one place.

    By itself glibc gives each thread a place of its own, and after the first large array is let go of
    puts large ones there too. Analyses run in many threads: the gaps between what they keep then
    add up to more than what is kept. Does nothing where there is another C library.
    """
    if not sys.platform.startswith("linux"):
        return
    option = getattr(ctypes.CDLL(None), "mallopt", None)
    if option is not None:
        option(_ARENA_MAX, _N_ARENAS)
        option(_MMAP_THRESHOLD, _LARGE_BYTES)

"""``python -m tracetui``."""

import sys

from tracetui.cli import main

if __name__ == "__main__":
    sys.exit(main())

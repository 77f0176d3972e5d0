"""``python -m labelsure`` is the command ``labelsure``."""

import sys

from labelsure.cli import main

if __name__ == "__main__":
    sys.exit(main())

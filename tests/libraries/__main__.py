"""Run the tasks of all libraries, or of the named ones, and print a table."""

import sys

from tests.apps.__main__ import main
from tests.libraries.library import find_libraries

if __name__ == "__main__":
    sys.exit(main({name: library.application for name, library in find_libraries().items()}, "tests.libraries"))

"""`python -m moldau` is `moldau`."""

import sys

from moldau.cli.main import main

sys.exit(main())

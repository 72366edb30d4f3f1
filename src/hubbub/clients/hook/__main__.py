"""`python -I -S …/hook/__main__.py CLIENT EVENT`: `hubbub-hook` for an interpreter that looks for no packages."""

import os
import sys

if __name__ == "__main__":
    here = os.path.dirname(os.path.abspath(__file__))
    sys.path.append(os.path.dirname(os.path.dirname(os.path.dirname(here))))
    from hubbub.clients.hook.main import main

    main()

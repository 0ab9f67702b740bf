"""Starts a module of ``tracetui.capture`` in a Python that need not have tracetui installed.

``python /path/to/bootstrap.py tracetui.capture.child ARGUMENT…`` puts this very package, and nothing
that lies beside it, within reach of the interpreter: our own site-packages would bring modules built
for another Python. What runs this way imports the standard library, torch, and ``tracetui.capture``.
"""

import importlib.util
import runpy
import sys
from pathlib import Path
from typing import Final

_OLDEST: Final = (3, 10)
EXIT_UNUSABLE: Final = 2


def load_package() -> None:
    """Make ``tracetui`` importable from where this file lies, leaving ``sys.path`` alone."""
    if "tracetui" in sys.modules:
        return
    root = Path(__file__).resolve().parents[1]
    spec = importlib.util.spec_from_file_location(
        "tracetui", root / "__init__.py", submodule_search_locations=[str(root)]
    )
    if spec is None or spec.loader is None:
        raise ImportError(f"{root}: is no package")
    package = importlib.util.module_from_spec(spec)
    sys.modules["tracetui"] = package
    spec.loader.exec_module(package)


def main() -> None:
    """Run the module named by the first argument as ``__main__`` with the others."""
    if sys.version_info < _OLDEST:
        found = ".".join(map(str, sys.version_info[:3]))
        print(f"{sys.executable} is Python {found}; capturing needs 3.10 or newer", file=sys.stderr)
        sys.exit(EXIT_UNUSABLE)
    here = Path(__file__).resolve().parent
    # Our folder comes first on the path of a script: modules of ours would hide others' names.
    sys.path[:] = [entry for entry in sys.path if Path(entry or ".").resolve() != here]
    load_package()
    module, *arguments = sys.argv[1:]
    sys.argv = [module, *arguments]
    runpy.run_module(module, run_name="__main__", alter_sys=True)


if __name__ == "__main__":
    main()

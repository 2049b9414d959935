"""The command line: ``python3 minigrad lab`` in a clone, or ``python -m minigrad``.

Only syntax that Python 2.7 can read, so that an old Python reaches the words below.
"""

import os
import sys

if not (3, 11) <= sys.version_info[:2] <= (3, 14):
    sys.exit(
        "minigrad: needs Python 3.11 to 3.14; this is Python %d.%d (%s)\n"
        "  fix: run the same command with another Python, for example:"
        " python3.13 minigrad lab" % (sys.version_info[:2] + (sys.executable,))
    )

if __package__:
    from minigrad import _bootstrap
else:
    # Run as a folder, this folder leads sys.path: the standard library would find
    # our modules there, and loading the package itself would need NumPy.
    import importlib.util

    folder = os.path.dirname(os.path.abspath(__file__))
    sys.path[:] = [entry for entry in sys.path if os.path.abspath(entry) != folder]
    spec = importlib.util.spec_from_file_location(
        "_bootstrap", os.path.join(folder, "_bootstrap.py")
    )
    assert spec  # it is None only for a file that Python cannot load
    assert spec.loader
    _bootstrap = importlib.util.module_from_spec(spec)
    sys.modules["_bootstrap"] = _bootstrap
    spec.loader.exec_module(_bootstrap)

if __name__ == "__main__":
    sys.exit(_bootstrap.main(sys.argv[1:], as_package=bool(__package__)))

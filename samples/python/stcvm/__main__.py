"""python -m stcvm [SCRIPT …]: runs scripts; without one, a prompt."""
import sys

from . import Error, Session, _stcvm


def _prompt(session):
    import contextlib
    with contextlib.suppress(ImportError):
        import readline  # noqa: F401 (line editing)
    text = ""
    while True:
        try:
            text += input("... " if text else "> ") + "\n"
        except EOFError:
            return 0
        except KeyboardInterrupt:
            text = ""
            print()
            continue
        if _stcvm.incomplete(text):
            continue
        try:
            print(session.exec(text, "stdin", 50), end="")
        except (Error, KeyboardInterrupt) as e:
            print(getattr(e, "output", ""), e or "interrupted", sep="", file=sys.stderr)
        text = ""


def main(paths):
    """The status to exit with."""
    session = Session()
    for path in paths:
        try:
            with open(path) as f:
                print(session.exec(f.read(), path), end="")
        except (Error, OSError) as e:
            print(getattr(e, "output", ""), end="")
            print("%s: %s" % (path, e), file=sys.stderr)
            return 1
    return 0 if paths else _prompt(session)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

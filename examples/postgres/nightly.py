"""Publishes the table of policy.yml; keeps the scheme of the first run for later ones."""

from __future__ import annotations

import sys
from pathlib import Path

import sqlanon
from sqlanon.errors import SqlanonError, UncoveredValueError, VerificationError

HERE = Path(__file__).parent


def main(folder: Path = HERE) -> int:
    """The exit status: 0 done, 1 error, 3 too little privacy, 4 values that are new."""
    kept = folder / "result.json"
    try:
        with sqlanon.load(folder / "policy.yml") as anonymizer:
            if not kept.exists():
                result = anonymizer.search()
                if result.solution is None:
                    print(result.shortfall(), file=sys.stderr)
                    return 3
                result.write(kept)
            release = anonymizer.publish(kept)
    except UncoveredValueError as error:
        print(error, file=sys.stderr)
        return 4
    except VerificationError as error:
        print(error, file=sys.stderr)
        return 3
    except SqlanonError as error:
        print(error, file=sys.stderr)
        return 1
    print(release)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())

"""``python -m attack.audit``: whether the database of known vulnerabilities can be asked, before ``make audit`` does.

It is that of the Python Package Index. Where it cannot be asked that is said in one line, with status 1: no answer is
not a clean bill.
"""

import json
import sys
import urllib.error
import urllib.request

ASKED = "https://pypi.org/pypi/pip/24.0/json"
"""A release that will stay in the database: what answers for it answers for all."""


def unreachable(address: str = ASKED, seconds: float = 30.0) -> str | None:
    """Why the database does not answer; None where it does."""
    try:
        with urllib.request.urlopen(address, timeout=seconds) as reply:
            found = json.load(reply)
    except urllib.error.HTTPError as error:
        return f"status {error.code}"
    except urllib.error.URLError as error:
        return str(error.reason)
    except (OSError, ValueError) as error:
        return f"{type(error).__name__}: {error}"
    return None if isinstance(found, dict) and "vulnerabilities" in found else "it tells of no vulnerabilities"


def main() -> int:
    why = unreachable()
    if why is None:
        return 0
    print(f"audit: nothing was audited, {ASKED} could not be asked ({' '.join(why.split())}).", file=sys.stderr)
    return 1


if __name__ == "__main__":
    sys.exit(main())

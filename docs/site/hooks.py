"""What the site needs beyond its theme: nothing of it is loaded from elsewhere."""

import re
from typing import Any

_ELSEWHERE = "https://unpkg.com/iframe-worker/shim"


def on_post_page(output: str, page: Any, config: Any) -> str:
    """The theme would load a script from the network for searching pages that are opened from a folder."""
    up = "../" * page.url.count("/")
    return re.sub(re.escape(_ELSEWHERE), f"{up}site/worker.js", output)


def on_post_template(output: str, template_name: str, config: Any) -> str:
    return output.replace(_ELSEWHERE, "site/worker.js")

"""HTML by construction: every text and every attribute is escaped, because there is no way to write one that is not."""

from html import escape
from typing import Any

from elect.support.wording import clean


class Html(str):
    """Text that is HTML already. Only ``tag`` and ``join`` make it."""

    __slots__ = ()


def tag(name: str, /, *children: Any, **attributes: Any) -> Html:
    """An element. Children that are not ``Html`` are escaped; a trailing underscore in an attribute name is dropped,
    others become hyphens; attributes that are None are left out.

    >>> tag("td", "<script>", class_="a b", aria_label='"')
    '<td class="a b" aria-label="&quot;">&lt;script&gt;</td>'
    """
    inside = join(*children)
    written = "".join(
        f' {key.rstrip("_").replace("_", "-")}="{escape(str(value))}"'
        for key, value in attributes.items()
        if value is not None
    )
    if not children and name in ("meta", "br", "rect", "circle", "line", "path"):
        return Html(f"<{name}{written}/>")
    return Html(f"<{name}{written}>{inside}</{name}>")


def join(*parts: Any) -> Html:
    """Parts one after the other; lists and tuples are joined too, None is nothing."""
    out = []
    for part in parts:
        if part is None:
            continue
        if isinstance(part, Html):
            out.append(str(part))
        elif isinstance(part, list | tuple):
            out.append(str(join(*part)))
        else:
            out.append(escape("\n".join(map(clean, str(part).split("\n")))))
    return Html("".join(out))

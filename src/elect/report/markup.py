"""HTML by construction: every text and every attribute is escaped, because there is no way to write one that is not."""

from html import escape
from typing import Any

from elect.support.wording import clean

_EMPTY = ("meta", "br", "input", "rect", "circle", "line", "path")


class Html(str):
    """Text that is HTML already. Only ``tag``, ``join`` and ``embedded`` make it."""

    __slots__ = ()


def tag(name: str, /, *children: Any, **attributes: Any) -> Html:
    """An element. Children that are not ``Html`` are escaped; a trailing underscore in an attribute name is dropped,
    others become hyphens; attributes that are None or False are left out, True stands without a value.

    >>> tag("td", "<script>", class_="a b", aria_label='"', hidden=True)
    '<td class="a b" aria-label="&quot;" hidden>&lt;script&gt;</td>'
    """
    written = "".join(_attribute(key, value) for key, value in attributes.items())
    if not children and name in _EMPTY:
        return Html(f"<{name}{written}/>")
    return Html(f"<{name}{written}>{join(*children)}</{name}>")


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


def embedded(name: str, content: str) -> Html:
    """A style or a script of our own, as it is. It must not close its element itself.

    >>> embedded("style", "p { margin: 0 }")
    '<style>p { margin: 0 }</style>'
    """
    if "</" in content or "<!--" in content:
        raise ValueError(f"this {name} would end before its end")
    return Html(f"<{name}>{content}</{name}>")


def _attribute(key: str, value: Any) -> str:
    if value is None or value is False:
        return ""
    name = key.rstrip("_").replace("_", "-")
    return f" {name}" if value is True else f' {name}="{escape(clean(str(value)))}"'

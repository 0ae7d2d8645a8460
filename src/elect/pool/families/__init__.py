"""The families with a shared-work implementation, a file each. ``_base`` says what a family is."""

from importlib import import_module

from elect.core.models import ModelSpec
from elect.errors import UnknownModel
from elect.pool.families._base import Family

# In the order of the published columns; families beyond the paper follow.
_FILES = (
    "loda",
    "abod",
    "iforest",
    "knn",
    "lof",
    "hbos",
    "ocsvm",
    "cof",
    "ecod",
    "extremes",
    "core",
)


def _family(file: str) -> Family:
    found: Family = import_module(f"{__name__}.{file}").FAMILY
    return found


FAMILIES: dict[str, Family] = {family.name: family for family in map(_family, _FILES)}
"""Every family by its name."""


def family_named(name: str) -> Family:
    """The family of this name."""
    if name not in FAMILIES:
        raise UnknownModel(
            f"Unknown detector {name!r}: it must be one of {', '.join(sorted(FAMILIES))}, "
            "or a PyOD-compatible class passed to ModelSpec.of."
        )
    return FAMILIES[name]


def family_of(spec: ModelSpec) -> Family | None:
    """The family that scores a model; None if it is a class of the user's, or has parameters left to PyOD."""
    if spec.is_custom:
        return None
    family = family_named(spec.detector)
    return family if family.supports(family.params_of(spec)) else None

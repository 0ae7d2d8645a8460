"""Make examples/payments.csv: card payments of a shop, with mixed types, missing values and a few odd ones.

    python examples/make_payments.py [FILE]

Everything is drawn from a seed, so the file is the same everywhere. Twenty-five payments are odd, each in one of five
ways; the column ``checked`` says which, as an auditor found out later. elect never looks at it unless told to report.
"""

import csv
import sys
from datetime import datetime, timedelta
from pathlib import Path

import numpy as np

ROWS = 1500
ODD = 25
COUNTRIES = {"DE": 0.7, "AT": 0.18, "CH": 0.12}
CATEGORIES = {"groceries": (24, 0.5, 1.1), "clothing": (55, 0.6, 0.5), "garden": (40, 0.7, 2.5)}  # price, spread, kg
COLUMNS = (
    *("payment", "when", "amount", "items", "weight_kg", "category", "country", "member"),
    *("minutes_on_site", "previous_orders", "days_since_last", "distance_km", "shipping", "discount", "checked"),
)


def normal(rng: np.random.Generator, number: int) -> dict[str, object]:
    """A payment like most."""
    category = str(rng.choice(list(CATEGORIES), p=[0.45, 0.35, 0.2]))
    price, spread, kilos = CATEGORIES[category]
    items = 1 + int(rng.poisson(1.4))
    amount = items * price * float(np.exp(rng.normal(0, spread) - spread**2 / 2))
    day = int(rng.integers(0, 180))
    # Two busy times: lunch and the evening.
    hour = float(np.clip(rng.normal(12.5, 1.5) if rng.random() < 0.4 else rng.normal(19.5, 2.0), 6.5, 23.4))
    member = bool(rng.random() < 0.55)
    orders = int(rng.poisson(9 if member else 2))
    discounted = member and bool(rng.random() < 0.4)
    return {
        "payment": f"P{100000 + number}",
        "when": datetime(2024, 1, 1) + timedelta(days=day, hours=hour),
        "amount": amount * (0.9 if discounted else 1.0),
        "items": items,
        "weight_kg": items * kilos * float(np.exp(rng.normal(0, 0.25))),
        "category": category,
        "country": str(rng.choice(list(COUNTRIES), p=list(COUNTRIES.values()))),
        "member": member,
        "minutes_on_site": float(np.exp(rng.normal(2.2, 0.5)) + 0.8 * items),
        "previous_orders": orders,
        "days_since_last": float(rng.gamma(2.0, 15.0 if member else 30.0)) if orders else 0.0,
        "distance_km": float(rng.gamma(3.0, 40.0)),
        "shipping": 0.0 if amount > 60 else 4.9,
        "discount": 0.1 if discounted else 0.0,
        "checked": "ok",
    }


def odd(rng: np.random.Generator, row: dict[str, object], way: int) -> None:
    """Make a payment odd in one of five ways."""
    row["checked"] = "odd"
    when = row["when"]
    assert isinstance(when, datetime)
    if way == 0:  # a stolen card: a large basket, paid in a hurry
        row["amount"], row["items"] = float(rng.uniform(900, 2400)), int(rng.integers(9, 16))
        row["minutes_on_site"] = float(rng.uniform(0.5, 2.0))
    elif way == 1:  # in the middle of the night, from afar
        row["when"] = when.replace(hour=int(rng.integers(2, 5)))
        row["distance_km"], row["amount"] = float(rng.uniform(900, 2500)), float(rng.uniform(400, 900))
    elif way == 2:  # a script: many items in seconds
        row["items"], row["minutes_on_site"] = int(rng.integers(14, 40)), float(rng.uniform(0.05, 0.3))
        row["weight_kg"] = float(rng.uniform(25, 60))
    elif way == 3:  # a discount nobody gives
        row["discount"], row["previous_orders"] = float(rng.uniform(0.6, 0.95)), int(rng.integers(30, 60))
    else:  # dear shipping of an order that is far too heavy
        row["shipping"], row["weight_kg"] = float(rng.uniform(20, 60)), float(rng.uniform(40, 90))
        row["distance_km"] = float(rng.uniform(500, 900))


def rows(seed: int = 2024) -> list[dict[str, object]]:
    """All payments, in the order of their numbers."""
    rng = np.random.default_rng(seed)
    made = [normal(rng, number) for number in range(ROWS)]
    for place, number in enumerate(rng.choice(ROWS, ODD, replace=False)):
        odd(rng, made[int(number)], place % 5)
    for row in made:
        if rng.random() < 0.04:
            row["minutes_on_site"] = None  # the tracker was blocked
        if rng.random() < 0.02:
            row["country"] = None
    return made


def text(value: object) -> str:
    """A value as a shop system would export it."""
    if value is None:
        return ""
    if isinstance(value, datetime):
        return value.strftime("%Y-%m-%d %H:%M")
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:.2f}" if isinstance(value, float) else str(value)


def main() -> None:
    path = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).with_name("payments.csv")
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(COLUMNS)
        writer.writerows([text(row[name]) for name in COLUMNS] for row in rows())


if __name__ == "__main__":
    main()

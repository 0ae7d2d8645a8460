"""Simulated tables of kinds that detectors meet in practice: payments, sensors, traffic, laboratories, surveys, ...

Each generator draws every row as a normal one and then spoils the last of them in one of a few ways, so that an outlier
has the columns of a normal row but for what is wrong with it. Some outliers are far from everything, some only unusual
for their regime, some break a correlation, some form a cluster of their own. Everything follows from the seed and the
name of the task.
"""

from collections.abc import Callable

import numpy as np

from elect.bench.testbeds.cutting import task_stream
from elect.core import LabeledTask
from elect.support.arrays import FloatArray, IntArray

Spoiled = Callable[[int, int, str, np.random.Generator], FloatArray]
"""From the numbers of rows and of outliers and the kind of outlier, a table whose last rows are the outliers."""


def simulated_tasks(seed: int = 0) -> tuple[LabeledTask, ...]:
    """All simulated tasks, named ``simulated/<generator>-<kind>``; the group is ``simulated-<generator>``."""
    return tuple(
        simulated_task(generator, kind, seed) for generator, (_, kinds) in GENERATORS.items() for kind in kinds
    )


def simulated_task(generator: str, kind: str, seed: int = 0) -> LabeledTask:
    """One simulated task, with its rows shuffled.

    >>> task = simulated_task("trips", "detour")
    >>> task.X.shape, int(task.y.sum())
    ((1500, 10), 60)
    """
    spoil, kinds = GENERATORS[generator]
    rows, share = kinds[kind]
    name = f"simulated/{generator}-{kind}"
    rng = task_stream(seed, name)
    n_outliers = round(share * rows)
    X = spoil(rows, n_outliers, kind, rng)
    y = np.repeat(np.array([0, 1], dtype=np.int8), [rows - n_outliers, n_outliers])
    order = rng.permutation(rows)
    return LabeledTask(name, f"simulated-{generator}", np.ascontiguousarray(X[order]), y[order])


def _transactions(n: int, m: int, kind: str, rng: np.random.Generator) -> FloatArray:
    """Card payments: what was paid, when, where, and how it compares with the card's own past."""
    bad = slice(n - m, n)
    category = rng.choice(6, n, p=[0.35, 0.25, 0.15, 0.12, 0.08, 0.05])
    typical = np.array([2.8, 3.3, 2.2, 4.1, 4.8, 5.9])[category]
    amount = np.exp(rng.normal(typical, 0.6))
    hour = np.where(rng.random(n) < 0.7, rng.normal(17, 3, n), rng.normal(11, 2, n))
    gap = np.exp(rng.normal(2.5, 1.3, n))
    today = rng.poisson(1.5 + 4 / (1 + gap))
    distance = rng.exponential(6, n) * np.where(rng.random(n) < 0.06, 40, 1)
    online = (rng.random(n) < np.array([0.1, 0.3, 0.05, 0.4, 0.5, 0.6])[category]).astype(float)
    age = rng.gamma(2, 600, n)
    usual = np.exp(rng.normal(3.3, 0.5, n))
    if kind == "testing":  # A stolen card is tried out with small sums, one after the other.
        amount[bad] = np.exp(rng.normal(0.7, 0.5, m))
        gap[bad] = np.exp(rng.normal(-0.5, 0.6, m))
        today[bad] = rng.poisson(12, m)
    elif kind == "takeover":  # The sum is high for what is bought, at an odd hour, away from home.
        amount[bad] *= np.exp(rng.normal(2.4, 0.4, m))
        hour[bad] = rng.normal(26, 3, m)
        distance[bad] += 60 + rng.exponential(150, m)
    elif kind == "merchant":  # One shop books nearly the same sum again and again.
        amount[bad] = rng.normal(49.5, 0.4, m)
        hour[bad] = rng.normal(13, 0.5, m)
        category[bad], online[bad] = 5, 1.0
    else:  # A little of each: no single column tells.
        amount[bad] *= np.exp(rng.normal(0.9, 0.4, m))
        hour[bad] += rng.normal(5, 2, m)
        gap[bad] /= 4
        today[bad] += rng.poisson(2, m)
    columns = [amount, hour % 24, category, gap, today, distance, online, age, amount / usual]
    return np.column_stack([*columns, rng.normal(size=(n, 2))])


def _sensors(n: int, m: int, kind: str, rng: np.random.Generator) -> FloatArray:
    """Twelve channels of a machine that runs in three regimes, with a slow drift over time."""
    bad = slice(n - m, n)
    regime = rng.choice(3, n, p=[0.5, 0.35, 0.15])
    level = rng.normal(0, 3, (3, 12))
    loading = rng.normal(0, 1, (3, 3, 12))
    factors = rng.normal(size=(n, 3))
    X: FloatArray = level[regime] + np.einsum("nf,nfc->nc", factors, loading[regime]) + rng.normal(0, 0.25, (n, 12))
    X += 0.8 * rng.random((n, 1)) * rng.normal(0, 1, 12)
    rows, channel = np.arange(n - m, n), rng.integers(12, size=m)
    if kind == "stuck":  # A channel shows what it showed in another regime.
        X[rows, channel] = level[(regime[bad] + 1) % 3, channel]
    elif kind == "spike":
        X[rows, channel] += rng.choice([-1, 1], m) * rng.uniform(6, 14, m)
    elif kind == "decoupled":  # Four channels come from another moment of the same regime.
        which = rng.permuted(np.tile(np.arange(12), (m, 1)), axis=1)[:, :4]
        other = np.array([rng.choice(np.flatnonzero(regime[: n - m] == r)) for r in regime[bad]])
        X[rows[:, None], which] = X[other[:, None], which]
    else:  # wear: in one regime, half of the channels slip the same way.
        X[bad] += (level[1] - level[regime[bad]]) + 0.9 * np.repeat([1.0, 0.0], 6)
        X[bad, :6] *= 1.15
    return X


def _flows(n: int, m: int, kind: str, rng: np.random.Generator) -> FloatArray:
    """Network flows: heavy tails, counts, and three kinds of traffic."""
    bad = slice(n - m, n)
    traffic = rng.choice(3, n, p=[0.6, 0.3, 0.1])
    duration = np.exp(rng.normal(np.array([0.0, -2.0, 3.0])[traffic], 1.0))
    received = 300 * np.exp(rng.normal(np.array([3.0, 0.0, 5.0])[traffic], 1.2))
    sent = received ** np.array([0.7, 0.95, 0.6])[traffic] * np.exp(rng.normal(0.3, 0.5, n))
    ports = 1 + rng.poisson(np.array([0.4, 0.1, 1.0])[traffic])
    syn = rng.beta(2, 12, n)
    jitter = duration * rng.gamma(2, 0.1, n)
    hosts = 1 + rng.poisson(rng.gamma(1.5, 1.5, n))
    udp = (traffic == 1).astype(float)
    if kind == "scan":  # Many ports, next to no bytes.
        ports[bad] += rng.poisson(15, m)
        sent[bad], received[bad] = 60 * ports[bad], 40 * np.exp(rng.normal(0, 0.5, m)) * ports[bad]
        syn[bad] = rng.beta(12, 4, m)
    elif kind == "exfiltration":  # More is sent than received; both are usual by themselves.
        sent[bad], received[bad] = received[bad] * np.exp(rng.normal(0.5, 0.5, m)), sent[bad]
    elif kind == "beacon":  # Small, regular, always to the same host.
        duration[bad] = np.exp(rng.normal(4.5, 0.1, m))
        jitter[bad] = 0.02 * duration[bad]
        sent[bad], received[bad] = np.exp(rng.normal(6.2, 0.1, m)), np.exp(rng.normal(6.6, 0.1, m))
        hosts[bad] = 1
    else:  # flood: long bursts of half-open connections from some of the hosts.
        syn[bad] = np.clip(syn[bad] + rng.uniform(0.1, 0.5, m), 0, 1)
        hosts[bad] += rng.poisson(5, m)
        sent[bad] *= np.exp(rng.normal(1.0, 0.5, m))
    sent_packets = 1 + np.round(sent / rng.normal(500, 60, n).clip(200))
    received_packets = 1 + np.round(received / rng.normal(900, 90, n).clip(300))
    columns = [duration, sent, received, sent_packets, received_packets, ports, syn, jitter, hosts, udp]
    return np.column_stack(columns)


def _servers(n: int, m: int, kind: str, rng: np.random.Generator) -> FloatArray:
    """Windows of a server's metrics, which follow the time of day."""
    bad = slice(n - m, n)
    hour, weekend = rng.uniform(0, 24, n), rng.random(n) < 2 / 7
    clock = hour.copy()
    if kind == "offpeak":  # The load of the afternoon, at night.
        hour[bad] = rng.normal(15, 2, m)
        clock[bad] = rng.normal(4, 2, m) % 24
    load = (1.2 - np.cos(2 * np.pi * (hour - 3) / 24)) * np.where(weekend, 0.6, 1.0)
    load *= np.exp(rng.normal(0, 0.15, n))
    requests = rng.poisson(400 * load).astype(float)
    cpu = 100 * (1 - np.exp(-0.5 * load)) + rng.normal(0, 3, n)
    memory = 40 + 8 * load + rng.normal(0, 3, n)
    latency = 20 + 30 * load**2 / (1 + load) + rng.gamma(2, 3, n)
    slowest = latency * np.exp(rng.normal(1.0, 0.15, n))
    errors = rng.poisson(0.004 * requests)
    read, written = 5 * load + rng.gamma(2, 1, n), rng.gamma(1.2, 4, n)
    received = requests * rng.normal(1.5, 0.1, n)
    sent = requests * rng.normal(9, 0.6, n)
    if kind == "leak":  # Memory no longer follows the load.
        memory[bad] += rng.uniform(15, 40, m)
    elif kind == "slow":  # Requests wait for something else than this server.
        latency[bad] *= rng.uniform(1.4, 2.2, m)
        slowest[bad] *= rng.uniform(1.4, 2.5, m)
        cpu[bad] -= rng.uniform(5, 20, m)
    elif kind == "outage":  # Few requests come through, and many of them fail.
        requests[bad] *= rng.uniform(0.2, 0.5, m)
        received[bad], sent[bad] = requests[bad] * 1.5, requests[bad] * rng.normal(5, 1, m)
        errors[bad] += rng.poisson(15, m)
    time = [np.sin(2 * np.pi * clock / 24), np.cos(2 * np.pi * clock / 24), weekend]
    return np.column_stack(
        [*time, requests, cpu.clip(0, 100), memory, latency, slowest, errors, read, written, received, sent]
    )


def _laboratory(n: int, m: int, kind: str, rng: np.random.Generator) -> FloatArray:
    """Blood panels: log-normal values that depend on age, sex, and four organs."""
    bad = slice(n - m, n)
    sex, age = rng.integers(2, size=n), rng.normal(55, 16, n).clip(18, 95)
    organs = rng.normal(size=(n, 4)) * np.exp(rng.normal(0, 0.3, (n, 1)))
    organs[:, 0] += (age - 55) / 30
    rows = np.arange(n - m, n)
    if kind == "kidney":
        organs[bad, 0] += rng.uniform(4, 8, m)
    elif kind == "liver":
        organs[bad, 1] += rng.normal(4.5, 0.5, m)
    means = np.log([80, 5.5, 4.2, 25, 24, 28, 11, 1.1, 14, 0.42, 4.7, 250, 7, 5.4])
    spread = np.array([0.2, 0.25, 0.08, 0.3, 0.25, 0.45, 0.35, 0.3, 0.08, 0.07, 0.08, 0.22, 0.25, 0.12])
    organ = np.array([0, 0, 0, 1, 1, 1, 1, 3, 2, 2, 2, 3, 3, 3])
    share = np.array([0.85, 0.8, 0.5, 0.9, 0.85, 0.7, 0.6, 0.3, 0.95, 0.95, 0.85, 0.3, 0.6, 0.3])
    noise = rng.normal(size=(n, len(means)))
    X = np.exp(means + spread * (share * organs[:, organ] + np.sqrt(1 - share**2) * noise))
    X *= np.where(sex[:, None] == 1, np.array([1.15, 1, 1, 1.2, 1.1, 1.4, 1, 1, 1.1, 1.1, 1.09, 0.95, 1, 1]), 1)
    if kind == "units":  # One value was entered in another unit.
        X[rows, rng.integers(len(means), size=m)] *= rng.choice([0.4, 0.55, 1.8, 2.5], m)
    elif kind == "swapped":  # Half of the panel is another patient's: organs no longer agree with themselves.
        other = rng.integers(n - m, size=m)
        X[bad, 1::2] = X[other, 1::2]
    return np.column_stack([sex, np.round(age), X.round(2)])


def _survey(n: int, m: int, kind: str, rng: np.random.Generator) -> FloatArray:
    """Twenty answers on a scale from 1 to 5 about four traits, a third of them reversed, and the time they took."""
    bad = slice(n - m, n)
    traits = rng.normal(size=(n, 4)) @ np.linalg.cholesky(0.7 * np.eye(4) + 0.3).T
    sign = np.where(np.arange(20) % 3 == 0, -1, 1)
    latent = 0.85 * sign * traits[:, np.arange(20) % 4] + rng.normal(0, 0.55, (n, 20))
    latent += rng.normal(0.2, 0.3, 20)
    careless = np.zeros((n, 20), dtype=bool)
    if kind == "random":
        careless[bad] = True
    elif kind == "inattentive":  # From some question on, nothing is read any more.
        careless[bad] = np.arange(20) >= rng.integers(4, 12, (m, 1))
    latent[careless] = rng.normal(0, 1.0, careless.sum())
    X = 3 + np.digitize(latent, [-1.4, -0.5, 0.5, 1.4]).astype(float) - 2
    if kind == "straight":  # The same answer nearly everywhere.
        same = rng.choice([3, 4], (m, 1), p=[0.6, 0.4])
        X[bad] = np.where(rng.random((m, 20)) < 0.85, same, X[bad])
    elif kind == "agreeing":  # Yes to everything, also to what is asked the other way round.
        X[bad] = np.where(rng.random((m, 20)) < 0.7, 4 + (rng.random((m, 20)) < 0.4), X[bad])
    seconds = np.exp(rng.normal(5.2, 0.35, n) - 0.25 * (np.arange(n) >= n - m))
    return np.column_stack([X, np.round(seconds)])


def _invoices(n: int, m: int, kind: str, rng: np.random.Generator) -> FloatArray:
    """Invoice lines of forty products: quantities, prices and what follows from them."""
    bad = slice(n - m, n)
    product = rng.zipf(1.5, n) % 40
    price_of, weight_of = np.exp(rng.normal(2.5, 1.2, 40)), np.exp(rng.normal(0, 1, 40))
    lot_of = rng.choice([1, 6, 12, 50], 40)
    lots = 1 + rng.geometric(0.35, n)
    quantity = (lots * lot_of[product]).astype(float)
    price = price_of[product] * np.exp(rng.normal(0, 0.04, n))
    discount = rng.choice([0, 0.02, 0.05, 0.1], n, p=[0.5, 0.2, 0.2, 0.1])
    tax = np.where(product % 5 == 0, 0.07, 0.19)
    days = rng.choice([14, 30, 60], n, p=[0.3, 0.5, 0.2]) + rng.gamma(1.5, 4, n).round() - 4
    if kind == "units":  # Single pieces were entered as dozens, or the other way round.
        quantity[bad] *= rng.choice([1 / 12, 12], m)
    elif kind == "mispriced":  # The price of another product, on the line of this one.
        price[bad] = price_of[rng.integers(40, size=m)]
    elif kind == "limit":  # Split so that each line stays just below what needs an approval.
        quantity[bad] = np.ceil(950 / price[bad])
        days[bad] = rng.choice([5, 6, 7], m)
    total = quantity * price * (1 - discount) * (1 + tax)
    weight = quantity * weight_of[product] * np.exp(rng.normal(0, 0.03, n))
    if kind == "total":  # The sum does not follow from the line.
        total[bad] *= rng.choice([0.1, 10, 100], m) * np.exp(rng.normal(0, 0.1, m))
    elif kind == "units":
        weight[bad] = lots[bad] * lot_of[product[bad]] * weight_of[product[bad]]
    return np.column_stack(
        [product, quantity, price.round(2), discount, tax, total.round(2), weight.round(2), price_of[product], days]
    )


def _trips(n: int, m: int, kind: str, rng: np.random.Generator) -> FloatArray:
    """Taxi trips between five places of a town."""
    bad = slice(n - m, n)
    places, width = rng.uniform(-8, 8, (5, 2)), np.array([0.6, 1.0, 1.5, 2.5, 0.3])
    at, to = rng.choice(5, n, p=[0.35, 0.25, 0.2, 0.15, 0.05]), rng.choice(5, n, p=[0.3, 0.25, 0.2, 0.15, 0.1])
    start = places[at] + rng.normal(size=(n, 2)) * width[at, None]
    end = places[to] + rng.normal(size=(n, 2)) * width[to, None]
    if kind == "elsewhere":  # Where few others go, in the town or around it.
        end[bad] = rng.uniform(-14, 14, (m, 2))
    hour = np.where(rng.random(n) < 0.4, rng.normal(8.5, 1.5, n), rng.normal(18, 3.5, n)) % 24
    straight = np.sqrt(((end - start) ** 2).sum(axis=1))
    distance = 0.3 + straight * rng.normal(1.3, 0.08, n).clip(1.02)
    if kind == "detour":
        distance[bad] *= rng.uniform(1.3, 2.2, m)
    rush = np.exp(-((hour - 8.5) ** 2) / 4) + np.exp(-((hour - 17.5) ** 2) / 6)
    minutes = 2 + distance / (35 - 15 * rush) * 60 * np.exp(rng.normal(0, 0.12, n))
    if kind == "jammed":  # As slow as in the rush hour, outside of it.
        minutes[bad] *= rng.uniform(1.5, 2.3, m)
    riders = rng.choice([1, 2, 3, 4], n, p=[0.7, 0.18, 0.07, 0.05])
    fare = 3.5 + 1.8 * distance + 0.3 * minutes
    if kind == "meter":  # A rigged meter adds half of the fare or more.
        fare[bad] *= rng.uniform(1.5, 2.5, m)
    tip = np.where(rng.random(n) < 0.5, rng.gamma(3, 0.04, n), 0) * fare
    return np.column_stack([start, end, hour, distance, minutes, riders, fare.round(1), tip.round(1)])


def _spectra(n: int, m: int, kind: str, rng: np.random.Generator) -> FloatArray:
    """Smooth curves at sixty wavelengths: the peaks of two materials over a baseline that bends."""
    bad = slice(n - m, n)
    grid = np.linspace(0, 1, 60)
    material = rng.choice(2, n, p=[0.7, 0.3])
    centre, width = rng.uniform(0.08, 0.92, (2, 5)), rng.uniform(0.015, 0.05, (2, 5))
    height = np.exp(rng.normal(0, 0.5, (2, 5)))[material] * np.exp(rng.normal(0, 0.2, (n, 5)))
    height *= np.exp(rng.normal(0, 0.25, (n, 1)))
    place = centre[material] + rng.normal(0, 0.002, (n, 1))
    if kind == "shift":  # The instrument is out of adjustment.
        place[bad] += rng.choice([-1, 1], (m, 1)) * rng.uniform(0.008, 0.02, (m, 1))
    X = _peaks(grid, place, width[material], height)
    if kind == "blend":  # Some of the other material is mixed in.
        other = 1 - material[bad]
        part = rng.uniform(0.15, 0.5, (m, 1))
        X[bad] = (1 - part) * X[bad] + part * _peaks(grid, centre[other], width[other], height[bad])
    elif kind == "impurity":  # A small peak that belongs to neither.
        X[bad] += _peaks(
            grid, np.full((m, 1), rng.uniform(0.2, 0.8)), np.full((m, 1), 0.02), rng.uniform(0.2, 0.7, (m, 1))
        )
    bend = rng.normal(0, 0.1, (n, 3))
    X += bend[:, :1] + bend[:, 1:2] * grid + bend[:, 2:] * grid**2
    noise = np.full((n, 1), 0.03)
    if kind == "noisy":
        noise[bad] *= rng.uniform(1.5, 3.0, (m, 1))
    return X + noise * rng.normal(size=X.shape)


def _peaks(grid: FloatArray, centre: FloatArray, width: FloatArray, height: FloatArray) -> FloatArray:
    """Sums of Gaussian peaks: a curve for each row of centres, widths and heights."""
    curves = height[:, :, None] * np.exp(-((grid - centre[:, :, None]) ** 2) / (2 * width[:, :, None] ** 2))
    total: FloatArray = curves.sum(axis=1)
    return total


def _meters(n: int, m: int, kind: str, rng: np.random.Generator) -> FloatArray:
    """A day of a household's electricity by the hour, of four ways to live, with the temperature outside."""
    bad = slice(n - m, n)
    hours = np.arange(24)
    way: IntArray = rng.choice(4, n, p=[0.45, 0.3, 0.15, 0.1])
    peaks = np.array([[7, 19], [12, 18], [9, 22], [2, 20]])[way] + rng.normal(0, 0.7, (n, 2))
    away = np.abs((hours - peaks[:, :, None] + 12) % 24 - 12)
    use = 0.15 + (np.array([0.6, 1.0])[:, None] * np.exp(-(away**2) / 5)).sum(axis=1)
    use *= np.exp(rng.normal(0, 0.4, (n, 1)) + rng.normal(0, 0.25, (n, 24)))
    degrees = rng.normal(9, 7, n)
    use += 0.02 * (18 - degrees).clip(0)[:, None]
    if kind == "bypass":  # Part of the day does not go through the meter.
        begin = rng.integers(8, 16, (m, 1))
        use[bad] *= np.where((hours >= begin) & (hours < begin + 7), rng.uniform(0.15, 0.5, (m, 1)), 1.0)
    elif kind == "nights":  # Something runs every night.
        use[bad] += rng.uniform(0.8, 1.8, (m, 1)) * ((hours < 5) | (hours > 22))
    elif kind == "frozen":  # The meter repeats its average.
        use[bad] = 0.2 * use[bad] + 0.8 * use[bad].mean(axis=1, keepdims=True)
    else:  # shifted: the clock of the meter is wrong.
        use[bad] = np.roll(use[bad], 5, axis=1)
    return np.column_stack([use.round(3), use.sum(axis=1).round(2), degrees.round(1)])


GENERATORS: dict[str, tuple[Spoiled, dict[str, tuple[int, float]]]] = {
    "transactions": (
        _transactions,
        {"testing": (2000, 0.02), "takeover": (2500, 0.02), "merchant": (1500, 0.05), "mixed": (1500, 0.05)},
    ),
    "sensors": (
        _sensors,
        {"stuck": (1500, 0.03), "spike": (1200, 0.05), "decoupled": (1500, 0.1), "wear": (1000, 0.08)},
    ),
    "flows": (
        _flows,
        {"scan": (2000, 0.03), "exfiltration": (2000, 0.05), "beacon": (1500, 0.04), "flood": (1200, 0.1)},
    ),
    "servers": (
        _servers,
        {"offpeak": (1500, 0.03), "leak": (1000, 0.05), "slow": (1500, 0.02), "outage": (1200, 0.08)},
    ),
    "laboratory": (
        _laboratory,
        {"kidney": (1500, 0.03), "liver": (1000, 0.1), "units": (2000, 0.02), "swapped": (1000, 0.05)},
    ),
    "survey": (
        _survey,
        {"straight": (800, 0.05), "random": (800, 0.08), "agreeing": (600, 0.1), "inattentive": (1000, 0.06)},
    ),
    "invoices": (
        _invoices,
        {"units": (2000, 0.02), "mispriced": (1500, 0.05), "limit": (1500, 0.04), "total": (2000, 0.03)},
    ),
    "trips": (
        _trips,
        {"elsewhere": (1500, 0.05), "detour": (1500, 0.04), "jammed": (2000, 0.02), "meter": (1500, 0.03)},
    ),
    "spectra": (
        _spectra,
        {"shift": (600, 0.05), "blend": (800, 0.05), "impurity": (800, 0.03), "noisy": (600, 0.1)},
    ),
    "meters": (
        _meters,
        {"bypass": (1200, 0.05), "nights": (1000, 0.1), "frozen": (1000, 0.03), "shifted": (1500, 0.04)},
    ),
}
"""Generators, and for each kind of outlier the number of rows and the share of outliers."""

"""Write machines.csv: readings of 400 pumps, a few of them faulty in different ways."""

import csv
from pathlib import Path

import numpy as np


def main() -> None:
    rng = np.random.default_rng(42)
    n = 400
    load = rng.choice([0.3, 0.6, 0.9], n, p=[0.2, 0.5, 0.3]) + rng.normal(0, 0.03, n)
    speed = 1200 + 900 * load + rng.normal(0, 20, n)
    temperature = 35 + 30 * load + rng.normal(0, 1.5, n)
    vibration = np.exp(rng.normal(-1.2 + 0.5 * load, 0.15, n))
    current = 4 + 9 * load + rng.normal(0, 0.3, n)
    temperature[[17, 203]] += [25, 22]  # running hot
    vibration[[88, 311]] *= [4.0, 3.5]  # worn bearings
    speed[[142]] = 1230  # stalled under full load: each value is ordinary, together they are not
    load[[142]], current[[142]] = 0.92, 12.4
    with open(Path(__file__).with_name("machines.csv"), "w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["pump", "load", "speed_rpm", "temperature_c", "vibration_mm_s", "current_a"])
        for i in range(n):
            row = (load[i], speed[i], temperature[i], vibration[i], current[i])
            writer.writerow([f"P{i:03d}", *(f"{value:.3f}" for value in row)])


if __name__ == "__main__":
    main()

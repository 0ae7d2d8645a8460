"""The evaluation: protocols, statistics and figures of the paper, computed on the testbeds."""

from elect.benchmark.bench import run_bench
from elect.benchmark.result import BenchResult, MethodResult

__all__ = ["BenchResult", "MethodResult", "run_bench"]

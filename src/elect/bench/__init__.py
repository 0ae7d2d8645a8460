"""The evaluation: protocols, statistics and figures of the paper, computed on the testbeds."""

from elect.bench.result import BenchResult, MethodResult
from elect.bench.run import run_bench

__all__ = ["BenchResult", "MethodResult", "run_bench"]

"""Linear algebra in one thread: only where it is asked for."""

import numpy as np
import pytest
from threadpoolctl import threadpool_info, threadpool_limits

from elect.answers import Feedback, RowEvidence
from elect.answers import session as sessions
from elect.support.threads import one_thread


def most_threads() -> int:
    return max(library["num_threads"] for library in threadpool_info() if library["user_api"] == "blas")


def test_linear_algebra_takes_one_thread_there_and_as_many_as_before_after_it() -> None:
    with threadpool_limits(2, user_api="blas"):
        if most_threads() == 1:
            pytest.skip("this linear algebra knows one thread only")
        with one_thread():
            assert most_threads() == 1
        assert most_threads() == 2


def test_an_answer_and_a_question_are_worked_out_in_one_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    seen = []
    for name in ("believe", "most_telling"):
        plain = getattr(sessions, name)
        monkeypatch.setattr(sessions, name, lambda *args, of=plain: (seen.append(most_threads()), of(*args))[1])
    rng = np.random.default_rng(0)
    session = Feedback.of(RowEvidence(rng.normal(size=50), rng.normal(size=(50, 3)), rng.normal(size=(50, 2))))
    with threadpool_limits(2, user_api="blas"):
        session.tell(session.ask(), True)
    assert seen == [1, 1]

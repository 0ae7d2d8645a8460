"""ELECT, the procedure of the paper (ICDM 2022), a file a step.

| step | where |
|---|---|
| similarity of tasks (Eq. 1) | ``similarity.similarity_to_tasks`` |
| the pick (2) | ``pick.best_first`` |
| neighbours by performance (3), by predicted gaps (5) | ``neighbors`` |
| predicted gap (4) | ``predictor.predicted_gaps``; trained in ``predictor_training`` |
| acquisition: mean + variance (6), expected improvement (7), the next model (8) | ``acquisition`` |
| initial models by coverage (appendix A) | ``coverage.coverage_initial_models`` |
| anchors (appendix A), measures against them | ``anchors.choose_anchors``, ``measuring`` |
| stopping: hands-off by patience, hands-on by budget (section IV) | ``stopping.Patience``, ``stopping.Budget`` |
| the search through all of them | ``search.search``, with the ``settings`` of a database |
"""

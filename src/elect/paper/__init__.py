"""ELECT, the procedure of the paper, a file a step.

Similarity (Eq. 1), the pick (2), neighbours (3, 5), the predicted gap (4), acquisition (6, 7), coverage (appendix A),
anchors, and the search that goes through them.
"""

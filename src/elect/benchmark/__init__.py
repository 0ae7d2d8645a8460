"""The evaluation: protocols, statistics and figures of the paper, computed on the testbeds."""

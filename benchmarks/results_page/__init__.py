"""The page of results: every run of the testbeds, its tables, figures and sentences, and every idea that was tried."""

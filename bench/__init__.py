"""Compare Outrider with its peers: `python -m bench`, or one part: `python -m bench cold_start`.

The contenders take turns in one run, and results are reported as ratios, because absolute times say more about the
machine than about the code. `--quick` runs only a few turns, to check that everything works.
"""

"""Measure Outrider beside its peers: `python -m bench`, or one part: `python -m bench cold_start`.

Everything is measured in turns in one run and reported as ratios, because absolute times say more about the machine
than about the code. `--quick` runs few turns, to check that it runs at all.
"""

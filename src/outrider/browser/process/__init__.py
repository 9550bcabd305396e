"""Browser processes: find, install, launch, attach to and pool them."""

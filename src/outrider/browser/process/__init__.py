"""Browser processes: find, install, launch, attach and pool them."""

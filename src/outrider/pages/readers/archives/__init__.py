"""Archive formats: zip, tar, and compressed streams, read within bounds."""

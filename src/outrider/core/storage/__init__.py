"""Where the bytes of artifacts are kept: a folder, or object storage, behind one small protocol."""

"""What holds files: zip within bounds, and everything else that is unpacked."""

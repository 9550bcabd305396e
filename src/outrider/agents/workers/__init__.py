"""Workers that take queued runs, execute them durably and recover lost ones."""

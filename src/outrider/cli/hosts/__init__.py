"""Programs that use Outrider: where their settings and skills are, and how their files are edited."""

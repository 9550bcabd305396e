"""Skills for coding agents, in the open format of agentskills.io: one folder each, with a `SKILL.md`."""

from pathlib import Path

SKILL_FOLDER = Path(__file__).parent / "outrider"
REFERENCES = {path.stem: path for path in sorted(SKILL_FOLDER.glob("references/*.md"))}

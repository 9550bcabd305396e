"""Build the documentation as a website: `python -m release.site ZENSICAL [FOLDER]`.

Each page has its Markdown next to it, and llms.txt lists these files for agents.
"""

import os
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / ".cache" / "site"
# Pages of the repository's root that belong to the documentation.
ROOT_PAGES = ("CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md")
LEAVING_LINK = re.compile(r"\]\((?:\.\./)+([^)\s]+)\)")


def gather_pages(source: Path, repository: str) -> None:
    """Copy all pages into one folder, with links that work there."""
    shutil.rmtree(source, ignore_errors=True)
    shutil.copytree(ROOT / "docs", source / "docs", ignore=shutil.ignore_patterns("*.py", "__pycache__"))
    for name in ROOT_PAGES:
        shutil.copyfile(ROOT / name, source / "docs" / name.lower())
    for page in (source / "docs").rglob("*.md"):
        text = page.read_text(encoding="utf-8")
        page.write_text(rewrite_links(text, page, source / "docs", repository), encoding="utf-8")
    shutil.copyfile(ROOT / "release" / "zensical.toml", source / "zensical.toml")


def rewrite_links(text: str, page: Path, docs: Path, repository: str) -> str:
    """Point links that leave the documentation to its copy of the page or to the repository."""
    if page.parent == docs and page.name.upper() in {name.upper() for name in ROOT_PAGES}:
        text = text.replace("](docs/", "](")
    depth = "../" * len(page.parent.relative_to(docs).parts)

    def replace_target(match: re.Match[str]) -> str:
        target = match[1]
        inside = docs / target.lower() if target in ROOT_PAGES else docs / target
        if target == "README.md":
            return f"]({depth}index.md)"
        if inside.is_file():
            return f"]({depth}{inside.relative_to(docs)})"
        return f"](https://github.com/{repository}/blob/main/{target})"

    return LEAVING_LINK.sub(replace_target, text)


def write_twins(source: Path, site: Path) -> None:
    """Put each page's Markdown next to it, and list all of them in llms.txt."""
    summary = tomllib.loads((source / "zensical.toml").read_text(encoding="utf-8"))["project"]["site_description"]
    lines = ["# Outrider", "", f"> {summary}", ""]
    for page in sorted((source / "docs").rglob("*.md")):
        name = page.relative_to(source / "docs")
        twin = site / name
        twin.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(page, twin)
        text = page.read_text(encoding="utf-8")
        title = re.search(r"^# (.+)$", text, re.MULTILINE)
        first = next((line for line in text.split("\n") if re.match(r"[A-Z*\[]|`[^`]", line)), "")
        sentence = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", first)
        lines.append(f"- [{title[1] if title else name}]({name.as_posix()}): {sentence}")
    (site / "llms.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")


def build_site(zensical: str, target: Path, repository: str) -> int:
    """Build the site and return zensical's exit code; a broken link is printed and fails."""
    gather_pages(SOURCE, repository)
    settings = SOURCE / "zensical.toml"
    owner, _, name = repository.partition("/")
    address = f'site_url = "https://{owner.lower()}.github.io/{name}/"\nrepo_url = "https://github.com/{repository}"\n'
    text = settings.read_text(encoding="utf-8")
    settings.write_text(text.replace("[project]\n", f"[project]\n{address}", 1), encoding="utf-8")
    command = [str(Path(zensical).absolute()), "build", "--strict", "--clean", "--config-file", str(settings)]
    # Without colours, its frames around broken links are letters.
    environment = os.environ | {"NO_COLOR": "1"}
    built = subprocess.run(command, cwd=SOURCE, env=environment, check=False)  # noqa: S603 - the Makefile names it
    if built.returncode == 0:
        write_twins(SOURCE, SOURCE / "site")
        shutil.rmtree(target, ignore_errors=True)
        shutil.copytree(SOURCE / "site", target)
    return built.returncode


if __name__ == "__main__":
    program, folder = [*sys.argv[1:], str(ROOT / "dist" / "site")][:2]
    sys.exit(build_site(program, Path(folder), os.environ.get("GITHUB_REPOSITORY") or "example/outrider"))

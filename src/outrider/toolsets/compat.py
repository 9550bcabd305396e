"""The toolset compat: tools of other toolsets under the names and contracts of other products.

Some hosts and prompts were written for these names, so all of them stay callable. But a model that sees two tools for
one purpose must choose each time, and pays for both descriptions, so `--toolsets all` only lists them on request.
"""

from outrider.core.tool import Toolset
from outrider.toolsets import planning
from outrider.toolsets.web import search_browse, search_cli

compat = Toolset(
    "compat",
    "For prompts that name them: websearch, webbrowser, search, toggle_todo. Otherwise prefer web_search, web_fetch "
    "and mark_todo.",
    display_name="Compatibility",
)
compat.share_tool(search_browse.web_search_browse, search_browse.websearch.__name__)
compat.share_tool(search_browse.web_search_browse, search_browse.webbrowser.__name__)
compat.share_tool(search_cli.web_search_cli, search_cli.search.__name__)
compat.share_tool(planning.planning, planning.toggle_todo.__name__)
compat.share_tool(planning.planning, planning.remove_todo.__name__)

"""The page scripts are joined into one function, so their names must not collide."""

import re
from collections import Counter

from outrider.browser.protocol.scripts import load_source

DECLARED = re.compile(r"^(?:async )?(?:function\*?|const|let|class) +(\w+)", re.MULTILINE)


def test_no_name_is_declared_by_two_scripts() -> None:
    counted = Counter(DECLARED.findall(load_source()))
    assert len(counted) > 200
    assert [name for name, count in counted.items() if count > 1] == []

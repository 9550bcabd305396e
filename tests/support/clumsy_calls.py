"""Two hundred realistic wrong calls of models, with their intended meanings.

By tool, a list of (sent arguments, intended arguments); None marks a real mistake, whose error must name the next move.
"""

from typing import Any

S = {"sessionId": "s1"}
UNREACHABLE_URL = "http://127.0.0.1:9/"  # refused at once, so that no call waits for a site
U = {"url": UNREACHABLE_URL}

CLUMSY_CALLS: dict[str, list[tuple[Any, dict[str, Any] | None]]] = {
    "web_search": [
        ({"q": "tea"}, {"query": "tea"}),
        ({"search_query": "tea", "limit": 3}, {"query": "tea", "num_results": 3}),
        ({"query": "tea", "count": "3"}, {"query": "tea", "num_results": 3}),
        ({"query": "tea", "top_k": 3.0}, {"query": "tea", "num_results": 3}),
        ({"query": "tea", "numResults": 2, "mode": None}, {"query": "tea", "num_results": 2}),
        ({"query": ["tea"], "mode": "News"}, {"query": "tea", "mode": "news"}),
        ({"query": "tea", "time_range": "Week", "lang": "de"}, {"query": "tea", "freshness": "week", "language": "de"}),
        ({"query": 2024, "domain": "a.example"}, {"query": "2024", "site": "a.example"}),
        ({"raw": '{"query": "tea"}'}, {"query": "tea"}),
        ({"input": {"query": "tea", "n": 1}}, {"query": "tea", "num_results": 1}),
        ({"query": "tea", "page": "2", "site": None, "freshness": None}, {"query": "tea", "page": 2}),
        ({"query": "tea", "limit": 3, "num_results": 5}, None),
        ({"query": "tea", "mode": "video"}, None),
        ({}, None),
        ({"raw": '{"query": "tea"'}, None),
        ({"query": "tea", "safe": True}, None),
    ],
    "web_fetch": [
        ({"uri": UNREACHABLE_URL}, U),
        ({"urls": [UNREACHABLE_URL]}, U),
        ({"link": UNREACHABLE_URL, "prompt": "who wrote it?"}, U | {"query": "who wrote it?"}),
        (U | {"maxChars": "500", "format": "Markdown"}, U | {"max_chars": 500, "format": "markdown"}),
        (U | {"max_length": 500, "offset": "0"}, U | {"max_chars": 500, "offset": 0}),
        (U | {"render": "NEVER", "output_dir": None, "query": None}, U | {"render": "never"}),
        ({"arguments": U}, U),
        ({"url": UNREACHABLE_URL, "uri": "http://127.0.0.1:10/"}, None),
        ({"format": "text"}, None),
    ],
    "web_crawl": [
        ({"website": UNREACHABLE_URL, "limit": 5}, U | {"max_pages": 5}),
        (U | {"depth": "2", "include": "/docs"}, U | {"max_depth": 2, "include": ["/docs"]}),
        (U | {"maxPages": 3, "within": "Host", "exclude": None}, U | {"max_pages": 3, "within": "host"}),
        (U | {"max_pages": "lots"}, None),
    ],
    "web_extract": [
        (U | {"schema": {"a": "string"}}, {"urls": [UNREACHABLE_URL], "output_schema": {"a": "string"}}),
        (
            U | {"json_schema": '{"a": "string"}', "limit": 2},
            {"urls": [UNREACHABLE_URL], "output_schema": {"a": "string"}, "max_pages": 2},
        ),
        (U, None),
    ],
    "web_map": [
        ({"website": UNREACHABLE_URL, "limit": 5}, U | {"max_urls": 5}),
        (U | {"query": "tea", "within": "Host", "exclude": None}, U | {"search": "tea", "within": "host"}),
        (U | {"max_urls": "lots"}, None),
    ],
    "webbrowser": [
        (U, {"urls": [UNREACHABLE_URL]}),
        ({"urls": UNREACHABLE_URL, "format": "HTML"}, {"urls": [UNREACHABLE_URL], "format": "html"}),
        (
            {"urls": f'["{UNREACHABLE_URL}"]', "screenshot_mode": "full_page"},
            {"urls": [UNREACHABLE_URL], "screenshotMode": "fullPage"},
        ),
    ],
    "websearch": [
        ({"q": "tea", "page": None}, {"query": "tea"}),
        ({"question": "what is tea?", "pageNumber": "2"}, {"query": "what is tea?", "page": 2}),
    ],
    "createSession": [
        ({"uri": UNREACHABLE_URL, "headless": "true"}, U | {"headless": True}),
        (U | {"timezone": None, "state_id": None, "lang": "de-AT"}, U | {"locale": "de-AT"}),
        ({"title": "shop"}, None),
    ],
    "navigateToUrl": [
        ({"session_id": "s1", "href": UNREACHABLE_URL}, S | U),
        ({"session": "s1", "url": [UNREACHABLE_URL]}, S | U),
        (U, None),
    ],
    "clickElement": [
        ({"session_id": "s1", "ref": "e3"}, S | {"selector": "e3"}),
        (S | {"element": "e3", "button": "LEFT"}, S | {"selector": "e3", "button": "left"}),
        (S | {"css_selector": "#go", "clicks": "2"}, S | {"selector": "#go", "clicks": 2}),
        (S | {"selector": "#go", "at": "[3, 4]"}, S | {"selector": "#go", "at": [3, 4]}),
        (S | {"target": "e3", "settle": "false", "at": None}, S | {"selector": "e3", "settle": False}),
        (S | {"ref": "e3", "element": "the button"}, S | {"selector": "e3"}),
        ({"ref": "e3"}, None),
        (S, None),
        (S | {"selector": "#go", "button": "upper"}, None),
    ],
    "inputText": [
        (S | {"ref": "e1", "value": "hello"}, S | {"selector": "e1", "text": "hello"}),
        (S | {"selector": "e1", "text": 42}, S | {"selector": "e1", "text": "42"}),
        (
            S | {"selector": "e1", "content": "a", "mode": "Append"},
            S | {"selector": "e1", "text": "a", "mode": "append"},
        ),
        (
            S | {"selector": "e1", "text": "a", "delay_ms": "5", "submit": "yes"},
            S | {"selector": "e1", "text": "a", "delayMs": 5, "submit": True},
        ),
    ],
    "pressKey": [
        ({"session_id": "s1", "keys": "Enter"}, S | {"key": "Enter"}),
        (S | {"key": ["Enter"]}, S | {"key": "Enter"}),
    ],
    "selectOption": [
        (S | {"ref": "e1", "value": "Vienna"}, S | {"selector": "e1", "options": ["Vienna"]}),
        (S | {"selector": "e1", "values": ["Vienna"]}, S | {"selector": "e1", "options": ["Vienna"]}),
        (S | {"selector": "e1", "label": "Vienna", "checked": None}, S | {"selector": "e1", "options": ["Vienna"]}),
    ],
    "hoverElement": [(S | {"ref": "e1"}, S | {"selector": "e1"})],
    "dragElement": [
        (S | {"ref": "e1", "destination": "e2"}, S | {"selector": "e1", "to": "e2"}),
        (S | {"selector": "e1", "end": "e2"}, S | {"selector": "e1", "to": "e2"}),
    ],
    "scrollPage": [
        (S | {"direction": "Down", "pixels": "300"}, S | {"direction": "down", "amount": 300}),
        (S | {"direction": "down", "ref": None}, S | {"direction": "down"}),
        (S | {"direction": "sideways"}, None),
    ],
    "uploadFiles": [
        (S | {"ref": "e1", "file": "a.txt"}, S | {"selector": "e1", "paths": ["a.txt"]}),
        (S | {"selector": "e1", "paths": "a.txt"}, S | {"selector": "e1", "paths": ["a.txt"]}),
    ],
    "waitFor": [
        (S | {"text": "Done", "timeout": "3"}, S | {"text": "Done", "seconds": 3}),
        (S | {"selector": None, "time": 1, "text": "Done"}, S | {"text": "Done", "seconds": 1}),
        (S | {"text": "Done", "seconds": 5000}, None),
    ],
    "answerDialog": [(S | {"accept": "yes", "value": None}, S | {"accept": True})],
    "snapshotPage": [
        ({"session_id": "s1", "mode": "FULL"}, S | {"mode": "full"}),
        (S | {"selector": "#main", "find": None}, S | {"root": "#main"}),
    ],
    "takeScreenshot": [
        (S | {"mode": "full_page", "ref": "e1"}, S | {"mode": "fullPage", "selector": "e1"}),
        (S | {"refs": "true"}, S | {"refs": True}),
    ],
    "extractPageContent": [
        (S | {"format": "Text", "max_chars": 500}, S | {"format": "text", "maxChars": 500}),
        (S | {"main_content_only": "true"}, S | {"mainContentOnly": True}),
    ],
    "extractInteractable": [
        (S | {"limit": 10}, S | {"maxElements": 10}),
        (S | {"include_hidden": 1}, S | {"includeHidden": True}),
    ],
    "readLogs": [
        (S | {"type": "Console", "limit": "5"}, S | {"kind": "console", "last": 5}),
        (S | {"kind": "network", "failed_only": "true"}, S | {"kind": "network", "failedOnly": True}),
        (S | {"kind": "errors"}, None),
    ],
    "manageTabs": [
        (S | {"action": "NEW", "uri": UNREACHABLE_URL}, S | {"action": "new"} | U),
        (S | {"action": "switch", "index": "2"}, S | {"action": "switch", "tab": 2}),
    ],
    "closeSession": [({"id": "s1"}, S), ({"session_id": "s1"}, S), ({}, None)],
    "manageStates": [({"action": "List", "state_id": None}, {"action": "list"}), ({"action": "save", "id": "x"}, None)],
    "read_file": [
        ({"file_path": "a.txt"}, {"path": "a.txt"}),
        ({"filename": "a.txt", "start": "2", "end": "3"}, {"path": "a.txt", "start_line": 2, "end_line": 3}),
        ({"path": ["a.txt"], "numbered": "true"}, {"path": "a.txt", "numbered": True}),
        ({"path": "a.txt", "startLine": None, "endLine": None}, {"path": "a.txt"}),
        ({"path": "a.txt", "limit": 50}, {"path": "a.txt", "start_line": 1, "end_line": 50}),
        ({"path": "a.txt", "start_line": 0}, None),
    ],
    "write_file": [
        ({"file_path": "a.txt", "text": "hi"}, {"path": "a.txt", "content": "hi"}),
        ({"path": "a.txt", "content": 42}, {"path": "a.txt", "content": "42"}),
        ({"path": "a.txt", "content": "x", "mode": "A"}, {"path": "a.txt", "content": "x", "mode": "a"}),
        ({"path": "a.txt", "file_text": "x", "expected_sha256": None}, {"path": "a.txt", "content": "x"}),
        ({"path": "a.txt"}, None),
        ({"path": "a.txt", "content": "x", "mode": "append"}, {"path": "a.txt", "content": "x", "mode": "a"}),
    ],
    "replace_text_in_file": [
        (
            {"file_path": "a.txt", "old_string": "a", "new_string": "b"},
            {"path": "a.txt", "old_text": "a", "new_text": "b"},
        ),
        ({"path": "a.txt", "oldText": 1, "newText": 2}, {"path": "a.txt", "old_text": "1", "new_text": "2"}),
        ({"path": "a.txt", "search": "a", "replace_with": "b"}, {"path": "a.txt", "old_text": "a", "new_text": "b"}),
    ],
    "replace_lines_in_file": [
        (
            {"path": "a.txt", "replacements": {"startLine": "1", "content": "x"}},
            {"path": "a.txt", "replacements": [{"start_line": 1, "new_content": "x"}]},
        ),
        (
            {"path": "a.txt", "edits": '[{"line": 1, "text": "x"}]'},
            {"path": "a.txt", "replacements": [{"start_line": 1, "new_content": "x"}]},
        ),
        (
            {"path": "a.txt", "replacements": [{"start_line": 1, "end_line": None, "new_content": 3}]},
            {"path": "a.txt", "replacements": [{"start_line": 1, "new_content": "3"}]},
        ),
        ({"path": "a.txt", "replacements": [{"startLine": "three"}]}, None),
        ({"path": "a.txt", "replacements": "all of them"}, None),
    ],
    "import_file": [
        ({"source": "/tmp/a", "destination": "a"}, {"src_abs_path": "/tmp/a", "dest_rel_path": "a"}),
        ({"srcAbsPath": "/tmp/a", "to": "a"}, {"src_abs_path": "/tmp/a", "dest_rel_path": "a"}),
    ],
    "export_file": [
        ({"file": "a.txt", "title": "A", "format": None}, {"path": "a.txt", "display_name": "A"}),
        ({"file_path": "a.md", "format": "HTML"}, {"path": "a.md", "format": "html"}),
    ],
    "export_zip": [
        ({"paths": ["a.txt"]}, {"files": ["a.txt"]}),
        ({"files": "a.txt", "packageName": "all"}, {"files": ["a.txt"], "package_name": "all"}),
    ],
    "list_directory": [
        ({"directory": "."}, {"path": "."}),
        ({"dir": ".", "recursive": "true", "depth": "2"}, {"path": ".", "recursive": True, "max_depth": 2}),
        ({"path": None, "showHidden": 1}, {"show_hidden": True}),
    ],
    "search_files": [
        ({"glob": "*.txt", "folder": "."}, {"pattern": "*.txt", "path": "."}),
        ({"query": "*.txt", "fileType": "File"}, {"pattern": "*.txt", "file_type": "file"}),
    ],
    "grep": [
        ({"regex": "tea", "directory": "."}, {"pattern": "tea", "path": "."}),
        ({"query": "tea", "path": ".", "limit": "5"}, {"pattern": "tea", "path": ".", "max_matches": 5}),
        (
            {"pattern": 7, "path": ".", "include": "*.txt", "ignoreCase": "true"},
            {"pattern": "7", "path": ".", "glob": "*.txt", "ignore_case": True},
        ),
        ({"path": "."}, None),
    ],
    "execute_python": [
        ({"source": "1 + 1"}, {"code": "1 + 1"}),
        ({"script": "1", "timeout": "30"}, {"code": "1", "timeout": 30}),
        ({"raw": '{"code": "1", "run_mode": null}'}, {"code": "1"}),
        ({"code": "1", "timeout": "30s"}, {"code": "1", "timeout": 30}),
        ({"code": "1", "timeout": 900}, None),
    ],
    "execute_shell": [
        ({"cmd": "true"}, {"command": "true"}),
        ({"command": ["true"], "cwd": "."}, {"command": "true", "working_dir": "."}),
        (
            {"command": "true", "runMode": "SYNC", "timeoutSeconds": 5},
            {"command": "true", "run_mode": "sync", "timeout": 5},
        ),
    ],
    "poll_process": [
        ({"pid": "p1"}, {"process_id": "p1"}),
        ({"processId": 7, "lines": 5}, {"process_id": "7", "tail": {"n": 5}}),
        ({"process_id": "p1", "tail": '{"n": "5"}'}, {"process_id": "p1", "tail": {"n": 5}}),
    ],
    "read_process_output": [
        ({"id": "p1", "limit": 5, "mode": "HEAD"}, {"process_id": "p1", "lines": 5, "mode": "head"}),
    ],
    "stop_process": [({"process": "p1"}, {"process_id": "p1"})],
    "list_processes": [({"status": "Running"}, {"status_filter": "running"})],
    "create_goal": [
        ({"title": "Ship it"}, {"goal": "Ship it"}),
        ({"description": "Ship it"}, {"goal": "Ship it"}),
        ({"raw": '{"goal": "Ship it"}'}, {"goal": "Ship it"}),
        ({"goal": ""}, None),
    ],
    "add_todo": [
        ({"title": "Write tests"}, {"name": "Write tests"}),
        ({"todo": "Write tests", "priority": "HIGH"}, {"name": "Write tests", "priority": "high"}),
        ({"name": "Write tests", "priority": None, "after": None}, {"name": "Write tests"}),
        ({"task": "Write tests", "dependsOn": []}, {"name": "Write tests", "after": []}),
        ({"name": "Write tests", "priority": "urgent"}, {"name": "Write tests", "priority": "high"}),
    ],
    "mark_todo": [
        ({"todo_id": "1"}, {"id": 1}),
        ({"id": 1, "done": "true", "note": "fine"}, {"id": 1, "completed": True, "summary": "fine"}),
        ({"todoId": 1, "is_completed": False}, {"id": 1, "completed": False}),
        ({"id": "the first"}, None),
    ],
    "update_todo": [
        ({"task_id": 1, "text": "Other", "position": None}, {"id": 1, "name": "Other"}),
        ({"id": 1, "after": "2,3"}, {"id": 1, "after": [2, 3]}),
        ({"id": 1, "after": 2}, {"id": 1, "after": [2]}),
    ],
    "remove_todo": [({"todo": 1}, {"id": 1}), ({"id": [1]}, {"id": 1})],
    "toggle_todo": [({"todoId": "1"}, {"id": 1})],
    "clear_todos": [({"ids": "1,2"}, {"ids": [1, 2]}), ({"ids": 1}, {"ids": [1]})],
    "add_observation": [
        ({"text": "It is red"}, {"observation": "It is red"}),
        ({"note": "It is red"}, {"observation": "It is red"}),
    ],
    "sequentialthinking": [
        (
            {"thought": "hm", "next_thought_needed": "false", "thought_number": "1", "total_thoughts": "1"},
            {"thought": "hm", "nextThoughtNeeded": False, "thoughtNumber": 1, "totalThoughts": 1},
        ),
    ],
    "createStore": [
        ({"title": "Tea"}, {"name": "Tea"}),
        ({"metadata": '{"name": "Tea"}', "description": None}, {"metadata": {"name": "Tea"}}),
    ],
    "addContent": [
        ({"text": "tea"}, {"content": "tea"}),
        ({"content": "tea", "filename": "a.txt"}, {"content": "tea", "metadata": {"filename": "a.txt"}}),
        ({"url": UNREACHABLE_URL}, {"file_url": UNREACHABLE_URL}),
        ({"fileUrl": UNREACHABLE_URL, "content": None}, {"file_url": UNREACHABLE_URL}),
        ({"content": "tea", "metadata": '{"title": "T"}'}, {"content": "tea", "metadata": {"title": "T"}}),
        ({"store": "none", "body": "tea"}, {"store_id": "none", "content": "tea"}),
        ({}, None),
    ],
    "readContent": [
        ({"id": "c1"}, {"content_id": "c1"}),
        ({"contentId": "c1", "start_line": 2, "endLine": "4"}, {"content_id": "c1", "from_line": 2, "to_line": 4}),
        ({"document_id": "c1", "to_line": None}, {"content_id": "c1"}),
    ],
    "keywordSimilaritySearch": [
        ({"q": "tea", "limit": 3}, {"query": "tea", "options": {"top_n": 3}}),
        ({"query": "tea", "options": {"topN": "3", "threshold": None}}, {"query": "tea", "options": {"top_n": 3}}),
        ({"query": "tea", "mimeType": "text/*"}, {"query": "tea", "options": {"mime_type": ["text/*"]}}),
        ({"query": "tea", "options": "best"}, None),
    ],
    "hybridSimilaritySearch": [
        ({"question": "what is tea?", "top_k": 3}, {"query": "what is tea?", "options": {"top_n": 3}}),
        ({"query": "tea", "options": '{"neighbours": "1"}'}, {"query": "tea", "options": {"neighbours": 1}}),
        ({"query": "tea", "options": {"top_n": 500}}, None),
    ],
    "listContent": [
        ({"limit": "5", "offset": 0}, {"pagination": {"limit": 5, "offset": 0}}),
        ({"storeId": None, "pagination": '{"limit": 5}'}, {"pagination": {"limit": 5}}),
    ],
    "listStores": [({"page_size": 5}, {"pagination": {"limit": 5}})],
    "deleteContent": [({"id": "c1"}, {"content_id": "c1"}), ({"docId": "c1"}, {"content_id": "c1"})],
    "updateContent": [({"contentId": "c1", "text": "x"}, {"content_id": "c1", "content": "x"})],
    "getStoreInfo": [({"storeId": None}, {})],
    "create_playbook": [
        (
            {"title": "Prices", "steps": [{"description": "Look", "action": {"tool_name": "grep", "purpose": "x"}}]},
            {"goal": "Prices", "workflow": [{"description": "Look", "action": {"toolName": "grep", "purpose": "x"}}]},
        ),
        ({"goal": "Prices", "workflow": "look around"}, None),
    ],
    "get_playbook": [({"playbook_id": "p1"}, {"id": "p1"})],
    "list_playbooks": [({"page": "1", "limit": 5}, {"page": 1, "pageSize": 5})],
    "select_playbook": [({"playbookId": "p1", "createTodos": "true"}, {"id": "p1", "create_todos": True})],
    "finish_playbook": [
        ({"run_id": "r1", "succeeded": "yes", "summary": "ok"}, {"runId": "r1", "succeeded": True, "notes": "ok"}),
    ],
    "export_playbooks": [({"ids": "p1"}, {"ids": ["p1"]})],
    "agent_run": [({"run_id": "r1", "timeout": "1"}, {"runId": "r1", "waitSeconds": 1})],
    "cancel_agent_run": [({"id": "r1"}, {"runId": "r1"})],
    "get_run_events": [
        ({"limit": 5, "types": "console"}, {"last_n": 5, "event_types": ["console"]}),
        ({"last": "5", "event_types": "Console, network"}, {"last_n": 5, "event_types": ["console", "network"]}),
        ({"run_id": "none", "has_error": "true"}, {"session_id": "none", "has_error": True}),
    ],
    "get_screenshots": [({"count": 1, "screenshot_type": "ALL"}, {"last_n": 1, "screenshot_type": "all"})],
    # Tools of other products that have another name here.
    "browser_click": [(S | {"ref": "e1"}, None)],
    "complete_todo": [({"id": 1}, None)],
    "edit_file": [({"path": "a.txt"}, None)],
    "list_files": [({}, None)],
    "bash": [({"command": "ls"}, None)],
    "make_coffee": [({"cups": 2}, None)],
}
NEAREST_TOOLS = {
    "browser_click": "clickElement",
    "complete_todo": "mark_todo",
    "edit_file": "replace_text_in_file",
    "list_files": "list_directory",
    "bash": "execute_shell",
    "make_coffee": "tools/list",
}

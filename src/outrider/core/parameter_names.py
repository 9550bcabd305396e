"""Find the parameter that a model means by another name."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from types import NoneType
from typing import Any, get_args

from pydantic import AliasChoices, BaseModel

# By parameter, the names that other tools and models use for it. A name that fits two parameters of a tool is ambiguous
# and not accepted there; `OtherNames` at the parameter takes precedence.
USUAL_NAMES: dict[str, str] = {
    "accept": "confirm ok",
    "action": "operation op type",
    "after": "depends_on dependencies predecessors blocked_by",
    "agent": "agent_name agent_id name assistant child_agent subagent_type agent_type",
    "amount": "pixels px distance scroll_amount by",
    "area": "storage type storage_type kind",
    "at": "position offset coordinates coordinate point",
    "bodies": "include_bodies",
    "body": "response content data payload",
    "branchFromThought": "branch_from",
    "budget": "limits",
    "budget_s": "timeout max_seconds time_limit seconds",
    "checked": "check",
    "clicks": "click_count count",
    "code": "script source program python snippet javascript typescript",
    "colorScheme": "theme color_mode",
    "command": "cmd script shell bash commands",
    "completed": "done complete is_completed finished status is_done",
    "content": "text body contents data file_text markdown include_raw_content",
    "content_id": "id document_id doc_id",
    "contentType": "content_type mime_type",
    "context": "context_lines lines_of_context -c -a -b",
    "context_files": "files file_ids attachments",
    "conversation_id": "conversation thread_id",
    "conversationId": "conversation thread_id",
    "cpuSlowdown": "cpu cpu_throttling cpu_throttle throttling_rate cpu_throttling_rate",
    "cron": "schedule when expression cron_expression",
    "delayMs": "delay typing_delay",
    "depth": "search_depth",
    "description": "summary desc",
    "dest_rel_path": "destination dest target to path",
    "device": "device_name",
    "direction": "dir",
    "display_name": "name title",
    "element": "selector ref target",
    "end": "close eof close_stdin",
    "end_line": "end to to_line last_line line_end end_line_one_indexed_inclusive",
    "event_types": "types kinds",
    "every": "interval frequency schedule cron period",
    "exclude": "exclude_paths exclude_patterns exclude_domains blocked_domains excluded_domains",
    "expected_sha256": "sha256 hash expected_hash",
    "expected_text": "old_text old_content",
    "failedOnly": "errors_only only_errors failed",
    "fields": "values data form inputs field_values form_data elements",
    "file_type": "type kind",
    "file_url": "url uri link path file file_path",
    "filename": "save_as output output_file file file_name",
    "files": "paths file_paths file path",
    "find": "text query search filter",
    "format": "output_format formats type to",
    "freshness": "recency time_range date_range tbs",
    "from_line": "start_line start line_start first_line",
    "from_timestamp": "since from after start_time",
    "geolocation": "location",
    "glob": "include file_pattern include_pattern file_type_glob",
    "goal": "objective title name description task",
    "has_error": "errors_only only_errors",
    "headers": "extra_http_headers",
    "headless_browser": "headless",
    "holdMs": "duration_ms hold_duration_ms",
    "id": "todo_id task_id todo playbook_id",
    "idempotency_key": "idempotency",
    "ids": "id todo_ids",
    "ignore_case": "case_insensitive -i",
    "include": "include_paths include_patterns",
    "include_images": "images",
    "initialCommand": "command trigger user_command",
    "input": "text",
    "inputs": "input parameters variables required_inputs",
    "isRevision": "revision",
    "key": "keys key_name",
    "kind": "type log_type",
    "language": "lang locale hl",
    "last": "limit count n last_n lines top_n num",
    "last_n": "limit count n last top_n num",
    "limit": "max count n top_k num max_results num_results top_n page_size",
    "line_numbers": "show_line_numbers -n",
    "lines": "limit count n num_lines",
    "locale": "lang language",
    "mainContentOnly": "only_main_content main_content",
    "max_chars": "max_length max_characters length",
    "max_depth": "depth max_discovery_depth",
    "max_matches": "max limit count n max_results head_limit top_n",
    "max_pages": "max limit count n max_results pages page_limit",
    "max_seconds": "timeout seconds time_limit",
    "max_steps": "max_iterations max_turns steps_limit",
    "max_urls": "max limit count n max_results max_links",
    "maxAgeSeconds": "max_age",
    "maxChars": "max_length max_characters length",
    "maxElements": "limit count n max max_results top_n",
    "metadata": "meta",
    "mime_type": "content_type",
    "mode": "topic search_type",
    "modifiers": "modifier",
    "n": "lines limit count",
    "name": "title text description content task todo flow flow_name playbook_name store_name baseline_name baseline",
    "network": "network_conditions throttle connection",
    "new_content": "content text new_text replacement new_string",
    "new_text": "new_string new_str replacement replace_with new replace replace_text to",
    "nextThoughtNeeded": "next continue more_needed needs_next",
    "notes": "note summary comment",
    "notify": "notifications webhook webhooks",
    "num_results": "max limit count n top_k num max_results results top_n max_search_results",
    "number": "reqid request_number",
    "numbered": "line_numbers show_line_numbers",
    "observation": "text note content fact",
    "offset": "start_index skip cursor",
    "old_text": "old_string old_str search find old search_text find_text from",
    "options": "option value values label labels",
    "output_dir": "save_dir save_to directory dir",
    "output_schema": "schema json_schema fields properties",
    "outputVariable": "output output_name variable",
    "package_name": "name zip_name archive_name filename",
    "page": "page_number",
    "pageSize": "limit count per_page page_limit",
    "parameters": "params inputs values arguments args variables",
    "path": "file file_path filename file_name filepath dir directory folder",
    "paths": "files file path file_path file_paths upload upload_files filepaths",
    "pattern": "regex query glob search expression name url_pattern url filter",
    "points": "coordinates coordinate point positions path",
    "position": "index order new_position",
    "process_id": "id pid process shell_id bash_id",
    "purpose": "reason why",
    "query": "q question search search_query search_term terms keywords prompt text task message input instructions",
    "reducedMotion": "prefers_reduced_motion",
    "refs": "annotate annotated labels highlight show_refs",
    "region": "country gl country_code location",
    "replace": "update",
    "replacements": "edits changes operations",
    "requiredArtifacts": "artifacts",
    "requiredData": "data required inputs",
    "reset": "restart new_session fresh",
    "root": "selector ref element scope",
    "run_mode": "mode",
    "runId": "id run",
    "script": "code javascript js expression function",
    "search": "query q match filter words",
    "seconds": "timeout time duration timeout_s wait timeout_seconds max_seconds",
    "selector": "ref element css css_selector locator target element_ref uid start_ref from start scope "
    "container start_element root",
    "session_id": "session sid id run_id",
    "sessionId": "session sid id browser_session_id",
    "show_hidden": "hidden include_hidden all",
    "since": "start_date from_date after date_from start_published_date published_after",
    "site": "domain website domains include_domains allowed_domains sites",
    "source": "engine",
    "src": "stream",
    "src_abs_path": "source src from path",
    "start_line": "start from from_line line first_line line_start line_number start_line_one_indexed",
    "state_id": "state id name storage_state",
    "stateId": "state id name storage_state",
    "status": "status_code code",
    "status_filter": "status filter state",
    "stepId": "id step",
    "steps": "actions",
    "store_id": "store id",
    "stream": "src source",
    "successCriteria": "criteria success success_criterion",
    "summary": "note notes outcome result",
    "tab": "index tab_id tab_index number",
    "target": "selector url ref element",
    "task": "instructions prompt query goal description user_task",
    "text": "value content input string text_to_type prompt_text message words chars",
    "thought": "text content",
    "thoughtNumber": "number step thought_index",
    "timeout": "timeout_s timeout_seconds seconds max_seconds",
    "timezone": "tz time_zone timezone_id",
    "title": "name",
    "to": "target destination end to_selector target_ref end_ref drop end_element",
    "to_line": "end_line end line_end last_line",
    "tolerance": "threshold",
    "toolName": "tool name",
    "toolsets": "tools",
    "top_n": "limit count n top_k num max_results num_results k",
    "totalThoughts": "total estimate total_steps",
    "until": "end_date to_date before date_to end_published_date published_before",
    "url": "urls uri link href address page_url target_url website start_url base_url site page target",
    "urls": "url uri link links address website websites pages",
    "userAgent": "ua",
    "value": "text option key",
    "viewport": "viewport_size window_size size resolution",
    "waitSeconds": "timeout seconds wait",
    "within": "row card container",
    "workflow": "steps",
    "working_dir": "cwd workdir working_directory dir directory path",
}
# Words that other tools add before or after the same names.
EMPTY_WORDS = frozenset({
    "allow", "browser", "element", "elements", "enable", "extra", "filter", "flow", "http", "id", "ids", "include",
    "input", "is", "list", "name", "new", "number", "only", "option", "page", "path", "query", "score", "scroll",
    "search", "selector", "set", "should", "show", "string", "target", "the", "use", "value", "values", "watch",
    "with",
})  # fmt: skip


@dataclass(frozen=True)
class OtherNames:
    """Names under which models send a parameter, besides the usual ones; goes into `Annotated`."""

    names: tuple[str, ...]


def normalize_name(name: str) -> str:
    """Return a name without case, underscores, dashes and spaces; an option such as `-i` keeps its dash."""
    dash = "-" if len(name) == 2 and name.startswith("-") else ""  # an option of a command
    return dash + "".join(character for character in name.casefold() if character not in "_- ")


def find_parameter(model: type[BaseModel], name: str) -> str | None:
    """Return the parameter that a name means; None if it means none, or could mean several."""
    if name in model.model_fields:
        return name
    if len(name) > 100:
        return None
    table = _build_name_table(model)
    return table.get(normalize_name(name)) or next(filter(None, map(table.get, _shorten_name(name))), None)


def _shorten_name(name: str) -> Iterator[str]:
    """Yield a name's normalized forms without insignificant words, the longest first."""
    words = re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z0-9]+", name)
    remaining_words = [word.lower() for word in words]
    yield from _change_number("".join(remaining_words))
    while len(remaining_words) > 1 and (remaining_words[0] in EMPTY_WORDS or remaining_words[-1] in EMPTY_WORDS):
        remaining_words = remaining_words[1:] if remaining_words[0] in EMPTY_WORDS else remaining_words[:-1]
        yield "".join(remaining_words)
        yield from _change_number("".join(remaining_words))


def _change_number(name: str) -> tuple[str, str]:
    """Return the singular and the plural of a normalized name."""
    return re.sub(r"ies$", "y", name).removesuffix("s"), f"{name}s"


def list_declared_names(model: type[BaseModel], parameter: str) -> tuple[str, ...]:
    """Return the names under which pydantic itself accepts a parameter."""
    alias = model.model_fields[parameter].validation_alias
    choices = alias.choices if isinstance(alias, AliasChoices) else [alias]
    return tuple(choice for choice in choices if isinstance(choice, str))


def find_nested_model(annotation: Any) -> type[BaseModel] | None:
    """Return the model of an object, or of a list's objects; None for anything else."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    nested = [find_nested_model(each) for each in get_args(annotation) if each is not NoneType]
    found = [each for each in nested if each is not None]
    return found[0] if len(found) == 1 else None


@lru_cache(maxsize=512)
def map_nested_models(model: type[BaseModel]) -> dict[str, type[BaseModel]]:
    """Map each parameter that is an object, or a list of objects, to its model."""
    nested = {name: find_nested_model(field.annotation) for name, field in model.model_fields.items()}
    return {name: each for name, each in nested.items() if each is not None}


@lru_cache(maxsize=512)
def has_lenient_object(model: type[BaseModel]) -> bool:
    """Return whether a parameter is an object that would drop fields in another spelling without an error."""
    nested = map_nested_models(model).values()
    return any(each.model_config.get("extra") != "forbid" or has_lenient_object(each) for each in nested)


@lru_cache(maxsize=512)
def _build_name_table(model: type[BaseModel]) -> dict[str, str]:
    """Map each unambiguous normalized name to its parameter; the most specific kind of name wins."""
    spelled = [(normalize_name(name), name) for name in model.model_fields]
    spelled += [
        (normalize_name(each), name) for name in model.model_fields for each in list_declared_names(model, name)
    ]
    own = [
        (normalize_name(each), name)
        for name, field in model.model_fields.items()
        for marker in field.metadata
        if isinstance(marker, OtherNames)
        for each in marker.names
    ]
    usual = [(normalize_name(each), name) for name in model.model_fields for each in USUAL_NAMES.get(name, "").split()]
    return _keep_unique(usual) | _keep_unique(own) | _keep_unique(spelled)


def _keep_unique(pairs: list[tuple[str, str]]) -> dict[str, str]:
    meanings: dict[str, set[str]] = {}
    for spelling, name in pairs:
        meanings.setdefault(spelling, set()).add(name)
    return {spelling: names.pop() for spelling, names in meanings.items() if len(names) == 1}

"""Find the parameter that a model means by another spelling or a usual name."""

from dataclasses import dataclass
from functools import lru_cache
from types import NoneType
from typing import Any, get_args

from pydantic import AliasChoices, BaseModel

# By parameter the names that other tools and models use for it. A name that fits two parameters of one tool is
# not understood there; `OtherNames` at the parameter takes precedence.
USUAL_NAMES: dict[str, str] = {
    "accept": "confirm ok",
    "after": "depends_on dependencies predecessors",
    "agent": "agent_name agent_id name assistant child_agent",
    "amount": "pixels px distance",
    "code": "script source program python snippet javascript typescript",
    "command": "cmd script shell bash",
    "completed": "done complete is_completed finished",
    "content": "text body contents data file_text markdown",
    "content_id": "id document_id doc_id",
    "context_files": "files file_ids attachments",
    "conversation_id": "conversation thread_id",
    "conversationId": "conversation thread_id",
    "dest_rel_path": "destination dest target to path",
    "display_name": "name title",
    "end_line": "end to to_line last_line line_end",
    "expected_text": "old_text old_content",
    "file_url": "url uri link path file file_path",
    "files": "paths file_paths file path",
    "format": "output_format",
    "freshness": "recency time_range date_range",
    "from_line": "start_line start line_start first_line",
    "glob": "include file_pattern",
    "goal": "objective title name description task",
    "id": "todo_id task_id todo playbook_id",
    "ignore_case": "case_insensitive",
    "initialCommand": "command trigger user_command",
    "inputs": "input parameters variables required_inputs",
    "key": "keys key_name",
    "kind": "type log_type",
    "language": "lang locale hl",
    "last": "limit count n last_n lines top_n num",
    "last_n": "limit count n last top_n num",
    "limit": "count n top_k num max_results num_results top_n page_size",
    "line_numbers": "show_line_numbers",
    "lines": "limit count n num_lines",
    "maxElements": "limit count n max max_results top_n",
    "locale": "lang language",
    "max_chars": "max_length max_characters length",
    "maxChars": "max_length max_characters length",
    "max_depth": "depth",
    "max_matches": "limit count n max_results head_limit top_n",
    "max_pages": "limit count n max_results pages",
    "max_urls": "limit count n max_results max_links",
    "max_seconds": "timeout seconds time_limit",
    "budget_s": "timeout max_seconds time_limit seconds",
    "mime_type": "content_type",
    "n": "lines limit count",
    "name": "title text description content task todo",
    "new_content": "content text new_text replacement new_string",
    "new_text": "new_string new_str replacement replace_with new",
    "notes": "note summary comment",
    "num_results": "limit count n top_k num max_results results top_n",
    "numbered": "line_numbers show_line_numbers",
    "observation": "text note content fact",
    "old_text": "old_string old_str search find old",
    "options": "option value values label labels",
    "page": "page_number",
    "pageSize": "limit count per_page page_limit",
    "path": "file file_path filename file_name filepath dir directory folder",
    "paths": "files file path file_path file_paths",
    "output_schema": "schema json_schema fields properties",
    "outputVariable": "output output_name variable",
    "pattern": "regex query glob search expression name",
    "process_id": "id pid process",
    "purpose": "reason why",
    "query": "q question search search_query search_term terms keywords prompt text task message input instructions",
    "region": "country gl",
    "replacements": "edits changes",
    "requiredArtifacts": "artifacts",
    "requiredData": "data required inputs",
    "root": "selector ref element",
    "runId": "id run",
    "run_mode": "mode",
    "script": "code javascript js expression function",
    "search": "query q match filter words",
    "seconds": "timeout time duration timeout_s wait",
    "selector": "ref element css css_selector locator target element_ref uid",
    "sessionId": "session sid id browser_session_id",
    "session_id": "session sid id run_id",
    "site": "domain website",
    "src_abs_path": "source src from path",
    "src": "stream",
    "start_line": "start from from_line line first_line line_start line_number",
    "stateId": "state id name",
    "state_id": "state id name",
    "status_filter": "status filter state",
    "steps": "actions",
    "store_id": "store",
    "stepId": "id step",
    "stream": "src source",
    "successCriteria": "criteria success success_criterion",
    "summary": "note notes outcome result",
    "tab": "index tab_id tab_index number",
    "target": "selector url ref element",
    "task": "instructions prompt query goal description",
    "text": "value content input string",
    "thought": "text content",
    "timeout": "timeout_s timeout_seconds seconds max_seconds",
    "to": "target destination end to_selector target_ref",
    "to_line": "end_line end line_end last_line",
    "toolName": "tool name",
    "toolsets": "tools",
    "top_n": "limit count n top_k num max_results num_results",
    "url": "urls uri link href address page_url target_url website",
    "urls": "url uri link links address website websites",
    "value": "text option key",
    "waitSeconds": "timeout seconds wait",
    "workflow": "steps",
    "working_dir": "cwd workdir working_directory dir directory path",
}


@dataclass(frozen=True)
class OtherNames:
    """Names under which models send a parameter, beside the usual ones; goes into `Annotated`."""

    names: tuple[str, ...]


def normalize_name(name: str) -> str:
    """Return a name without case, underscores, dashes and spaces."""
    return "".join(character for character in name.casefold() if character not in "_- ")


def find_parameter(model: type[BaseModel], name: str) -> str | None:
    """Return the parameter that a name means; None if it means none, or could mean several."""
    if name in model.model_fields:
        return name
    return None if len(name) > 100 else _build_name_table(model).get(normalize_name(name))


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
    """Map each normalized name that means exactly one parameter to it; the nearest kind of name wins."""
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

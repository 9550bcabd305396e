"""Flatten a JSON schema into the fields whose values are looked for."""

import re
from collections import Counter
from dataclasses import dataclass, replace
from typing import Any

from outrider.core.errors import InvalidInput
from outrider.pages.values.labels import compare_labels, compare_names, normalize_label
from outrider.pages.values.offered_value import OfferedValue

TYPE_NAMES = frozenset({"string", "number", "integer", "boolean", "array", "object"})
NAME_OF = re.compile(r"^(?:the )?(?:full )?(?:name|title|number|value) of (?:the |an? )?", re.IGNORECASE)
SCHEMA_HINT = (
    'send a JSON schema, e.g. {"type": "object", "properties": {"price": {"type": "number"}}}, or {"price": "number"}'
)


@dataclass(frozen=True)
class ValueField:
    """A value to look for.

    Attributes:
        path: The names of the properties that lead to it.
        schema: Its own schema.
        is_list: Whether all values are wanted, and `schema` is that of each.
        is_shared: Whether another field has the same last name, so that its surroundings must show which it is.
        rows: The fields of each object, if a list of objects is wanted.
    """

    path: tuple[str, ...]
    schema: dict[str, Any]
    is_list: bool = False
    is_shared: bool = False
    rows: "ValuePlan | None" = None

    @property
    def name(self) -> str:
        """The path as text, for instance `offer.price`."""
        return ".".join(self.path)

    def compare_offer(self, offer: OfferedValue) -> float:
        """Return how well the labels of a value fit: the last ones first, then those around it."""
        plain_parents = {"offers", "aggregateRating", "address", "priceSpecification"}
        min_joined_fit = 0.75
        # Every object has these: those of an author or a seller are not the page's.
        general_labels = {"name", "title", "description", "url", "image", "text", "position"}
        label, parents = offer.labels[-1], offer.labels[:-1]
        is_plain = len(self.path) == 1
        score = self._compare_label(label)
        if is_plain:
            factor = 0.3 if label in general_labels and offer.source == "json-ld" else 0.6
            score *= factor ** sum(parent not in plain_parents for parent in parents)
            joined = self._compare_label(" ".join(offer.labels)) if parents else 0.0
            score = max(score, 0.97 * joined if joined >= min_joined_fit else 0.0)  # the min value of a base salary
        if offer.context:
            score = max(score, 0.97 * self._compare_label(f"{offer.context} {label}", " ".join(self.path)))
        for name in self.path[:-1]:
            if not any(compare_labels(name, parent) >= 0.7 for parent in (*parents, offer.context)):
                score *= 0.75 if not self.is_shared and offer.source not in ("element", "meta", "heading") else 0.0
        return score

    def list_own_labels(self) -> set[str]:
        """Return the field's name, title and description in plain words."""
        given = (self.path[-1], self.schema.get("title"), self.schema.get("description"))
        return {normalize_label(str(each)) for each in given if each}

    def drop_range_end(self) -> "ValueField | None":
        """Return the field whose lower or upper end this one asks for, or None; for `salary_min`, it is the salary."""
        words = normalize_label(self.path[-1]).split()
        rest = [word for word in words if word not in ("min", "max")]
        if not rest or len(rest) == len(words) or self.schema.get("type") not in ("number", "integer"):
            return None
        return replace(self, path=(*self.path[:-1], " ".join(rest)))

    def _compare_label(self, label: str, name: str = "") -> float:
        """Return how well a label fits a field.

        The field's name, title and description are compared.
        """
        max_description_words = 7
        score = compare_names(name or self.path[-1], label, self.schema.get("format") in ("uri", "url"))
        if score < 0.9 and len(self.path) == 1 and (title := self.schema.get("title")):
            score = max(score, 0.9 * compare_labels(str(title), label))
        description = str(self.schema.get("description") or "") if score < 0.9 else ""
        if description and len(description.split()) <= max_description_words:
            similarity = compare_labels(NAME_OF.sub("", description), label)
            score = max(score, 0.95 * similarity if similarity >= 0.95 or not description.isascii() else 0.0)
        return score


@dataclass(frozen=True)
class ValuePlan:
    """The fields of one object, or of each row of a list.

    Attributes:
        fields: The fields.
        rows_at: The property that holds the list of rows, "" for the result itself, None for one object.
        required: Names of the fields that must have a value.
    """

    fields: tuple[ValueField, ...]
    rows_at: str | None = None
    required: frozenset[str] = frozenset()

    @property
    def has_rows(self) -> bool:
        """Whether objects of a list are wanted."""
        return self.rows_at is not None or any(each.rows is not None for each in self.fields)


def build_plan(schema: dict[str, Any]) -> ValuePlan:
    """Return the fields of a JSON schema, or of a mapping from names to types. Raises InvalidInput."""
    if schema and "type" not in schema and "properties" not in schema and "items" not in schema:
        schema = {"type": "object", "properties": {name: _read_short_type(name, each) for name, each in schema.items()}}
    if schema.get("type") == "array" or "items" in schema:
        return _build_rows_plan(schema, "")
    properties = _get_properties(schema)
    for name, inner in properties.items():
        if _is_list_of_objects(inner) and len(properties) == 1:
            return _build_rows_plan(inner, name)
    fields = _list_fields(schema, ())
    counts = Counter(each.path[-1] for each in fields)
    marked = tuple(replace(each, is_shared=counts[each.path[-1]] > 1) for each in fields)
    return ValuePlan(marked, None, frozenset(_list_required(schema)))


def _build_rows_plan(schema: dict[str, Any], name: str) -> ValuePlan:
    items = schema.get("items")
    if not isinstance(items, dict):
        raise InvalidInput("output_schema: the array has no `items`", hint=SCHEMA_HINT)
    if "properties" not in items:
        raise InvalidInput("output_schema: `items` must be an object with `properties`", hint=SCHEMA_HINT)
    fields = _list_fields(items, (), in_rows=True)
    return ValuePlan(fields, name, frozenset(_list_required(items)))


def _get_properties(schema: dict[str, Any]) -> dict[str, Any]:
    properties = schema.get("properties")
    if not isinstance(properties, dict) or not properties:
        raise InvalidInput("output_schema: it has no `properties`", hint=SCHEMA_HINT)
    return properties


def _list_fields(schema: dict[str, Any], path: tuple[str, ...], *, in_rows: bool = False) -> tuple[ValueField, ...]:
    max_fields = 60
    max_depth = 4
    fields: list[ValueField] = []
    for name, given in _get_properties(schema).items():
        inner = _read_short_type(name, given)
        if _is_list_of_objects(inner):
            if in_rows:
                hint = "extract that list in a separate call"
                raise InvalidInput(f"output_schema: {name} is a list of objects within a list", hint=hint)
            fields.append(ValueField((*path, str(name)), {}, is_list=True, rows=_build_rows_plan(inner, str(name))))
        elif "properties" in inner and len(path) < max_depth:
            fields += _list_fields(inner, (*path, str(name)), in_rows=in_rows)
        elif inner.get("type") == "array":
            items = inner.get("items")
            annotations = {key: inner[key] for key in ("title", "description") if key in inner}
            fields.append(
                ValueField((*path, str(name)), annotations | (items if isinstance(items, dict) else {}), is_list=True)
            )
        else:
            fields.append(ValueField((*path, str(name)), inner))
    if sum(len(each.rows.fields) if each.rows else 1 for each in fields) > max_fields:
        raise InvalidInput(f"output_schema: more than {max_fields} values", hint="ask for fewer")
    return tuple(fields)


def _is_list_of_objects(schema: Any) -> bool:
    is_list = isinstance(schema, dict) and schema.get("type") == "array"
    return is_list and isinstance(schema.get("items"), dict) and "properties" in schema["items"]


def _list_required(schema: dict[str, Any]) -> list[str]:
    required = schema.get("required")
    return [str(name) for name in required] if isinstance(required, list) else []


def _read_short_type(name: object, given: Any) -> dict[str, Any]:
    """Return the schema that a short form means: a type's name, or a schema."""
    if isinstance(given, dict):
        return given
    if isinstance(given, str):
        return {"type": given} if given in TYPE_NAMES else {"type": "string", "description": given}
    raise InvalidInput(f"output_schema: {name} is neither a type nor a schema", hint=SCHEMA_HINT)

"""Run contract tests that depend on the database on SQLite, on Postgres, and on replicas.

An app reads `.outrider/settings.json` of its home like a user's app, so tests need not know about this.
"""

from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest

from support.databases import postgres
from support.databases.both_databases import DatabaseSetup

# By file, the tests that also run on Postgres because they are about rows. None means all of them.
BOTH: dict[str, frozenset[str] | None] = {
    "test_planning": None,
    "test_playbook": None,
    "test_content_store": frozenset(
        {
            "test_a_text_is_kept_described_listed_read_and_found",
            "test_equal_text_in_a_store_is_kept_once",
            "test_stores_are_made_listed_and_described",
            "test_listing_is_newest_first_and_in_pages",
            "test_updating_replaces_text_and_index_in_one_step",
            "test_deleted_content_is_gone_everywhere",
            "test_sessions_people_and_workspaces_do_not_see_each_other",
            "test_everything_outlives_the_process",
            "test_many_concurrent_sessions_keep_their_own_contents",
            "test_a_changed_page_becomes_a_new_version_under_its_id",
        }
    ),
    "test_identity_quotas": frozenset(
        {
            "test_replicas_together_never_pass_a_limit",
            "test_replicas_together_reserve_no_more_slots_than_there_are",
            "test_calls_per_day_are_counted_and_the_refusal_says_when_to_retry",
            "test_the_number_of_concurrent_agents_of_a_person_is_limited",
            "test_cost_per_day_ends_runs_and_limits_the_next_one",
            "test_the_cost_of_a_running_agent_counts",
            "test_a_person_over_the_storage_quota_may_read_and_is_asked_to_delete",
            "test_an_agent_acts_as_its_person_in_their_workspace",
        }
    ),
    "test_run_agent": frozenset(
        {
            "test_the_answer_is_a_typed_resource_with_thoughts_status_and_usage",
            "test_the_conversation_can_be_read_under_its_address",
            "test_children_of_one_step_work_side_by_side",
            "test_a_background_run_is_followed_later",
            "test_another_persons_run_is_not_found",
            "test_cancelling_reaches_the_children",
            "test_a_client_that_vanishes_leaves_the_run_running",
        }
    ),
    "test_run_agent_blocked": frozenset(
        {
            "test_questions_of_two_children_share_one_form_that_may_be_answered_in_parts",
            "test_partial_decisions_of_the_host_resume_nothing_until_all_are_made",
            "test_repeating_a_resume_changes_nothing",
            "test_a_decision_made_elsewhere_counts",
            "test_an_always_allowed_tool_is_asked_about_once",
        }
    ),
    "test_run_agent_citations": frozenset(
        {
            "test_citations_use_the_range_that_the_host_reserved",
        }
    ),
    "test_run_agent_once": None,
    "test_run_agent_restart": frozenset(
        {
            "test_a_question_is_answered_after_everything_was_stopped_and_started_again",
        }
    ),
    "test_web": frozenset(
        {
            "test_a_search_returns_the_same_facts_as_data_and_as_json_text",
            "test_a_cut_text_explains_how_to_continue_and_the_parts_join",
        }
    ),
    "test_web_crawl": frozenset(
        {
            "test_a_crawl_lists_its_pages_as_data_and_as_text",
            "test_crawled_pages_are_read_from_the_cache",
            "test_a_spent_budget_explains_how_to_continue_and_the_next_call_does",
            "test_each_session_has_its_own_crawls",
        }
    ),
    "test_web_watch": frozenset(
        {
            "test_a_page_is_checked_again_and_its_change_is_readable",
            "test_watches_are_paused_resumed_removed_and_shared_by_sessions",
            "test_a_change_on_schedule_is_reported_once_by_a_signed_webhook",
        }
    ),
    "test_web_eval": frozenset(
        {
            "test_an_unknown_evaluation_is_an_error",
        }
    ),
}

# For agents on Postgres, `test_run_agent` and `test_run_agent_restart` are enough by day; these files add a few.
NIGHTLY_AGENT_FILES = frozenset({"test_run_agent_blocked", "test_run_agent_citations", "test_run_agent_once"})
DAILY_AGENT_TESTS = frozenset(
    {
        "test_a_decision_made_elsewhere_counts",
        "test_a_key_is_forgotten_after_a_day",
    }
)

REPLICAS = 3
# Other tests on Postgres whose statements another test also runs there by day.
OTHER_NIGHTLY_TESTS = frozenset(
    {
        "test_an_agent_acts_as_its_person_in_their_workspace",
        "test_the_cost_of_a_running_agent_counts",
        "test_many_concurrent_sessions_keep_their_own_contents",
        "test_the_number_of_concurrent_agents_of_a_person_is_limited",
        "test_a_crawl_lists_its_pages_as_data_and_as_text",
        "test_each_session_has_its_own_crawls",
        "test_a_cut_text_explains_how_to_continue_and_the_parts_join",
    }
)

# Of the tests above, those that also run on replicas called in turns: three replicas on Postgres cover one, too.
REPLICATED_FILES = frozenset({"test_planning", "test_playbook", "test_content_store"})


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    file = metafunc.module.__name__.rpartition(".")[2]
    if file not in BOTH:
        return
    chosen = BOTH[file]
    places: list[Any] = ["sqlite"]
    if chosen is None or metafunc.function.__name__ in chosen:
        marks = [postgres.needs_postgres]
        name = metafunc.function.__name__
        if name in OTHER_NIGHTLY_TESTS or (file in NIGHTLY_AGENT_FILES and name not in DAILY_AGENT_TESTS):
            marks.append(pytest.mark.nightly)
        places += [pytest.param("replicas" if file in REPLICATED_FILES else "postgres", marks=marks)]
    metafunc.parametrize("rows", places, indirect=True, scope="module")


@pytest.fixture(scope="module")
def rows(request: pytest.FixtureRequest) -> Generator[DatabaseSetup]:
    """The database of this file's apps."""
    kind = getattr(request, "param", "sqlite")
    server = None if kind == "sqlite" else request.getfixturevalue("server")
    made = DatabaseSetup(server, REPLICAS if kind == "replicas" else 0)
    yield made
    made.drop_databases()


@pytest.fixture(autouse=True)
def home(home: Path, rows: DatabaseSetup) -> Path:
    """The usual home, with the database for the test."""
    rows.configure_home(home)
    return home

"""A question about a long page gets the same answer for a fraction of the page's tokens."""

from dataclasses import replace

import pytest
from evals.excerpts.evaluate import BUDGETS, build_questions, is_answered
from evals.extraction.corpus import OWN_CORPUS, read_samples

from outrider.core.text import count_tokens

FLOOR = 0.95  # share of questions answered within the middle budget
PAGE_COUNT = 12  # the ratio of the page's length to the budget


@pytest.mark.nightly
def test_excerpts_answer_most_questions_that_the_whole_page_answers():
    asked = list(build_questions(read_samples(OWN_CORPUS), tokens=0))
    book = "\n\n".join(dict.fromkeys(each.markdown for each in asked))
    budget = min(BUDGETS[1], count_tokens(book) // PAGE_COUNT)
    reached = [is_answered(replace(each, markdown=book), budget) for each in asked]
    assert len(reached) >= 20
    assert sum(reached) / len(reached) >= FLOOR


def test_an_answer_that_is_not_in_the_excerpts_counts_as_missed():
    first, second = list(build_questions(read_samples(OWN_CORPUS), tokens=0))[:2]
    assert not is_answered(replace(first, answer=second.answer), BUDGETS[0])

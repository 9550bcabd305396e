import pytest

from outrider.search.failures import detect_block, is_html_page


@pytest.mark.parametrize(
    ("page", "why"),
    [
        ("<html><div class='g-recaptcha'></div></html>", "captcha"),
        ("<html><div class='anomaly-modal__title'>…</div></html>", "captcha"),
        ("<html>Our systems have detected unusual traffic from your network</html>", "captcha"),
        ("<html><title>Just a moment</title>Verifying you are human</html>", "captcha"),
        ("<html><iframe src='/httpservice/retry/enablejs?sei=a'></iframe></html>", "blocked"),
        ("<html><h1>Access Denied</h1></html>", "blocked"),
        ("<html><h1>Welcome</h1>Please sign in</html>", None),
    ],
)
def test_a_block_page_is_recognised_by_its_text(page, why):
    assert detect_block(page) == why


@pytest.mark.parametrize(
    ("kind", "text", "page"),
    [
        ("text/html", "<p>x", True),
        ("application/json", "<!DOCTYPE html>", True),
        ("", "\ufeff  <html>", True),
        ("text/html", '{"a": 1}', False),
        ("application/json", '{"html": "<html>captcha</html>"}', False),
        ("text/plain", "no tags here", False),
    ],
)
def test_a_page_is_recognised_by_its_body_rather_than_its_content_type(kind, text, page):
    assert is_html_page(kind, text) is page

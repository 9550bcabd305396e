import pytest

from outrider.core.errors import NotConfigured
from outrider.search.provider import SearchServices
from outrider.search.selection import SearchPlan, explain_providers, load_providers, load_sources, plan_search
from outrider.search.settings import SearchSettings, is_placeholder

WEB_JSON = {
    "google": {"provider": "google_cse", "api_key": "replace-me", "cse_id": "replace-me", "timeout_s": 20},
    "mine": {"provider": "google", "key": "g-key-123456", "cx": "c1", "timeout_s": "7", "user_agent": "replace-me"},
    "bing": {"provider": "bing", "subscription_key": "b-key-123456", "endpoint": "https://gate.example/v7.0/"},
    "broken": "no object",
    "nobody": {"api_key": "x-key-123456"},
    "typo": {"provider": "bravo", "api_key": "x-key-123456"},
}


def plan_available(settings: SearchSettings | None = None, *, profile: str | None = None, **environ: str) -> SearchPlan:
    return plan_search(settings or SearchSettings(), environ, profile=profile).select_available(SearchServices())


def list_names(made: SearchPlan) -> list[str]:
    return [each.provider.name for each in made.candidates]


def test_without_any_settings_the_keyless_chain_is_used():
    assert list_names(plan_available()) == ["tavily", "you", "exa"]


def test_keys_from_the_environment_come_before_keyless_providers():
    made = plan_available(
        BRAVE_API_KEY="b-key", DUST_MANAGED_SERP_API_KEY="s-key", GOOGLE_API_KEY="g", GOOGLE_CSE_ID="c"
    )
    assert list_names(made) == ["brave", "serpapi", "google_cse", "tavily", "you", "exa"]
    assert made.candidates[0].access.api_key == "b-key"


def test_a_keyless_provider_with_a_key_is_used_with_it_and_only_once():
    made = plan_available(EXA_API_KEY="e-key")
    assert list_names(made) == ["exa", "tavily", "you"]
    assert not made.candidates[0].access.keyless
    assert made.candidates[0].access.endpoint == "https://api.exa.ai"


@pytest.mark.parametrize(
    ("profile", "provider", "key"), [("mine", "google_cse", "g-key-123456"), ("bing", "bing", "b-key-123456")]
)
def test_a_profile_comes_first_whatever_its_fields_are_called(profile, provider, key):
    made = plan_available(SearchSettings(profiles=WEB_JSON, profile=profile), BRAVE_API_KEY="b")
    assert list_names(made)[:2] == [provider, "brave"]
    assert made.profile == profile
    assert made.candidates[0].access.api_key == key


def test_a_profiles_options_are_read_and_placeholders_ignored():
    access = plan_available(SearchSettings(profiles=WEB_JSON), profile="mine").candidates[0].access
    assert (access.timeout, access.user_agent, access.trusted) == (7.0, "", False)
    access = plan_available(SearchSettings(profiles=WEB_JSON), profile="bing").candidates[0].access
    assert (access.timeout, access.endpoint, access.trusted) == (20.0, "https://gate.example/v7.0", True)


def test_a_profile_with_placeholders_says_what_to_fill_in_and_where():
    with pytest.raises(NotConfigured) as caught:
        plan_available(SearchSettings(profiles=WEB_JSON, profile="google"))
    text = f"{caught.value} {caught.value.hint}"
    assert all(part in text for part in ("'google'", "api_key", "cse_id", "~/.outrider/web.json"))


def test_a_keyless_profile_may_omit_the_key_but_not_keep_its_placeholder():
    profiles = {"free": {"provider": "tavily"}, "unfilled": {"provider": "tavily", "api_key": "replace-me"}}
    made = plan_available(SearchSettings(profiles=profiles, profile="free"))
    assert made.candidates[0].access.keyless
    assert list_names(made) == ["tavily", "you", "exa"]
    with pytest.raises(NotConfigured, match="'unfilled'"):
        plan_available(SearchSettings(profiles=profiles, profile="unfilled"))


@pytest.mark.parametrize(("profile", "message"), [("nobody", "names no provider"), ("typo", "bravo")])
def test_a_profile_without_a_known_provider_is_refused(profile, message):
    with pytest.raises(NotConfigured, match=message):
        plan_available(SearchSettings(profiles=WEB_JSON, profile=profile))


def test_unknown_and_broken_profiles_warn_and_leave_the_default_chain():
    unknown = plan_available(SearchSettings(profiles=WEB_JSON, profile="gogle"))
    assert unknown.profile == ""
    assert any("'gogle'" in warning and "mine" in warning for warning in unknown.warnings)
    broken = plan_available(SearchSettings(profiles=WEB_JSON, profile="broken"))
    assert list_names(broken) == list_names(plan_available())
    assert any("'broken' is ignored" in warning for warning in broken.warnings)


@pytest.mark.parametrize("profile", ["", "default", " default "])
def test_the_default_profile_is_the_chain(profile):
    assert plan_available(SearchSettings(profiles=WEB_JSON, profile=profile)).profile == ""


@pytest.mark.parametrize("where", ["providers", "order", "disabled"])
def test_an_unknown_provider_in_the_settings_lists_the_known_ones(where):
    value = {"bravo": {}} if where == "providers" else ["bravo"]
    with pytest.raises(NotConfigured) as caught:
        plan_available(SearchSettings.model_validate({where: value}))
    assert where in caught.value.message
    assert "tavily" in caught.value.message
    assert "'brave'" in caught.value.hint


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ({"apikey": "k"}, "'apikey'"),
        ({"api_key": "k", "endpoint": "ftp://x"}, "endpoint"),
        ({"api_key": "k", "rate": 0}, "rate"),
        ({"api_key": "k", "rate": [1]}, "rate"),
    ],
)
def test_a_wrong_provider_setting_is_named(content, message):
    with pytest.raises(NotConfigured, match=message):
        plan_available(SearchSettings(providers={"brave": content}))


@pytest.mark.parametrize("seconds", ["soon", 0, -1, 1_000])
def test_an_impossible_timeout_warns_and_becomes_twenty(seconds):
    profiles = {"p": {"provider": "brave", "api_key": "k-123456", "timeout_s": seconds}}
    made = plan_available(SearchSettings(profiles=profiles, profile="p"))
    assert made.candidates[0].access.timeout == 20
    assert any("timeout_s" in warning for warning in made.warnings)


def test_order_disabled_and_keyless_settings_are_obeyed():
    settings = SearchSettings(order=["exa", "you"], disabled=["tavily"])
    assert list_names(plan_available(settings)) == ["exa", "you"]
    assert list_names(plan_available(SearchSettings(keyless=False))) == []


def test_the_same_key_in_profile_and_environment_is_asked_once():
    profiles = {"p": {"provider": "brave", "api_key": "k-123456"}}
    made = plan_available(SearchSettings(profiles=profiles, profile="p"), BRAVE_API_KEY="k-123456")
    assert list_names(made).count("brave") == 1


def test_another_key_has_its_own_health_record():
    one, other = (plan_available(BRAVE_API_KEY=key).candidates[0].access for key in ("k-123456", "k-654321"))
    assert one.id != other.id
    assert "123456" not in one.id


@pytest.mark.parametrize("value", ["", "  ", None, "replace-me", "REPLACE with your key", True, {}, []])
def test_placeholders_are_known(value):
    assert is_placeholder(value)


def test_keys_show_in_no_repr():
    settings = SearchSettings(profiles=WEB_JSON, profile="mine", providers={"brave": {"api_key": "b-key-999999"}})
    text = repr(settings) + repr(plan_search(settings, {}))
    assert not any(key in text for key in ("g-key-123456", "b-key-123456", "b-key-999999"))


async def _find_nothing(_query):
    return []


def test_the_doctor_reports_what_is_missing_and_how_to_get_it():
    report = explain_providers(
        SearchSettings(disabled=["you"]), {"BRAVE_API_KEY": "k"}, services=SearchServices(search_local=_find_nothing)
    )
    rows = {row.name: row for row in report}
    assert set(rows) == {*load_providers(), *load_sources()}
    assert (rows["brave"].usable, rows["brave"].key, rows["brave"].missing) == (True, True, ())
    assert (rows["tavily"].usable, rows["tavily"].key, rows["tavily"].keyless) == (True, False, True)
    assert (rows["google_cse"].usable, rows["google_cse"].missing) == (False, ("api_key", "cse_id"))
    assert "no api_key" in rows["serper"].reason
    assert rows["you"].reason == "disabled"
    assert rows["local"].usable
    assert "proxy" in rows["ddgs"].reason or "not installed" in rows["ddgs"].reason
    assert "SERPER_API_KEY" in rows["serper"].remedy

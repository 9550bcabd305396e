"""The guard lets through only permitted addresses, in every spelling and for every resolver."""

from contextlib import suppress
from ipaddress import IPv4Address, ip_address
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from outrider.core.egress import EgressGuard, EgressSettings
from outrider.core.egress.addresses import classify_address
from outrider.core.errors import InvalidInput, OutriderError, Refused, Unavailable

pytestmark = pytest.mark.anyio

REFUSED = """
http://127.0.0.1/ http://127.1/ http://127.0.1/ http://2130706433/ http://0x7f000001/ http://0x7f.1/ http://0x7f.0.0.1/
http://0177.0.0.1/ http://0177.1/ http://017700000001/ http://127.0.0.1./ http://127.000.000.001/ http://00177.0.0.1/
http://0X7F.0X0.0X0.0X1/ http://127.0.0.1:80/ https://127.0.0.1/ HTTP://127.0.0.1/ hTTp://127.0.0.1 http:127.0.0.1
http:/127.0.0.1/ http:\\\\127.0.0.1\\x http:////127.0.0.1/ http://127.0.0.1\\@example.com/ http://%31%32%37.0.0.1/
http://127%2e0%2e0%2e1/ http://１２７.０.０.１/ http://①②⑦.⓪.⓪.①/ http://127。0。0。1/ http://127．0．0．1/ http://127｡0｡0｡1/
http://𝟏𝟐𝟕.𝟎.𝟎.𝟏/ http://0x7F.1/ http://127.0.0.1?x http://127.0.0.1#x http://127.255.255.254/ http://0/ http://0.0.0.0/
http://0x0/ http://00/ http://0.1/ http://10.0.0.1/ http://10.1/ http://012.1/ http://0xa000001/ http://167772161/
http://172.16.0.1/ http://172.31.255.254/ http://192.168.0.1/ http://192.168.1/ http://3232235521/ http://0xC0.168.1/
http://169.254.169.254/ http://169.254.169.254/latest/meta-data/ http://2852039166/ http://0xa9fea9fe/ http://0xa9.0xfe.0xa9.0xfe/
http://0251.0376.0251.0376/ http://169.254.43518/ http://169.16689662/ http://0251.254.169.254/ http://169。254。169。254/
http://168.63.129.16/ http://100.100.100.200/ http://100.64.0.1/ http://192.0.0.192/ http://192.0.0.8/ http://192.0.2.1/
http://198.18.0.1/ http://198.51.100.1/ http://203.0.113.1/ http://224.0.0.1/ http://239.1.1.1/ http://240.0.0.1/
http://255.255.255.255/ http://4294967295/ http://0xffffffff/ http://192.88.99.1/ http://169.254.170.2/
http://[::1]/ http://[::]/ http://[0:0:0:0:0:0:0:1]/ http://[0000::0001]/ http://[::127.0.0.1]/ http://[::ffff:127.0.0.1]/
http://[::FFFF:7F00:1]/ http://[0:0:0:0:0:ffff:127.0.0.1]/ http://[::ffff:a9fe:a9fe]/ http://[::ffff:10.0.0.1]/
http://[::ffff:0:127.0.0.1]/ http://[64:ff9b::127.0.0.1]/ http://[64:ff9b::a9fe:a9fe]/ http://[64:ff9b:1::1]/
http://[64:ff9b:1::8.8.8.8]/ http://[2002:7f00:1::]/ http://[2002:a9fe:a9fe::1]/ http://[2002:c0a8:101::1]/
http://[2001:0:4136:e378:8000:63bf:80ff:fffe]/ http://[2001::1]/ http://[2001:db8::1]/ http://[3fff::1]/ http://[fc00::1]/
http://[fd00:ec2::254]/ http://[fe80::1]/ http://[fe80::5efe:10.0.0.1]/ http://[2606:4700::5efe:10.0.0.1]/
http://[2606:4700::200:5efe:127.0.0.1]/ http://[fec0::1]/ http://[ff02::1]/ http://[100::1]/ http://[5f00::1]/ http://[4000::1]/
http://[::2]/ http://[2001:20::1]/ http://[fd20:ce::254]/ http://[2001:2::1]/
http://localhost/ http://LOCALHOST/ http://localhost./ http://ｌｏｃａｌｈｏｓｔ/ http://loc%61lhost/ http://a.localhost/
http://LocalHost:443/ http://foo.bar.localhost./ http://localhost.localdomain/ http://printer.local/ http://printer.local./
http://ⓛⓞⓒⓐⓛⓗⓞⓢⓣ/ http://metadata.google.internal/ http://METADATA.google.internal./
http://metadata/ http://instance-data/ http://instance-data.ec2.internal/ http://ip6-localhost/ http://ip6-loopback/
http://db.internal/ http://router.home.arpa/ http://x.LOCAL/
http://kubernetes.default.svc.cluster.local/ http://host.docker.internal/ http://gateway.docker.internal:80/
http://example.com:22/ http://example.com:25/ http://example.com:8080/ https://example.com:8443/
http://example.com:6379/ http://example.com:65535/ http://8.8.8.8:53/ http://[2606:4700:4700::1111]:8080/ http://example.com:00022/
"""
# Not addresses that can be fetched at all.
BAD = r"""
|file:///etc/passwd|FILE:///etc/passwd|ftp://example.com/|gopher://example.com/|data:text/html,x|javascript:alert(1)|ws://example.com/
|about:blank|chrome://version|view-source:http://example.com|blob:http://example.com/x|mailto:a@example.com|ldap://127.0.0.1/
|dict://127.0.0.1:11211/|jar:http://127.0.0.1!/|unix:///var/run/docker.sock|http://|http:///|http://?x|example.com|//example.com
|/path|http://user:pass@example.com/|http://user@example.com/|http://@127.0.0.1@example.com/|http://example.com@127.0.0.1/
|http://127.0.0.1:80@example.com/|http://exa mple.com/|http://example.com:99999/|http://example.com:x/|http://[::1/|http://[::g]/
|http://[fe80::1%25eth0]/|http://[::ffff:999.0.0.1]/|http://1.2.3.4.5/|http://256.256.256.256/|http://0x100000000/|http://4294967296/
|http://example.com:0/|http://foo.127.1.1.1.1/|http://a..b/|http://localhost../|http://.example.com/|http://example.com../|http://%00/
|http://exam%00ple.com/|http://a^b/|http://<x>/|http://[v1.x]/|http://[::%31]/|https://[]/|http://％００/|http://ex%2fample.com/
|http://09.1/|http://1.2.3.08/|http://127.0.0.1%00.example.com/
"""
LEGITIMATE = """
http://example.com/ https://example.com/ https://www.example.com/a?b=c#d https://example.com:443/ http://example.com:80/
http://example.com:00080/ https://example.com./ HTTPS://EXAMPLE.COM/ https://münchen.de/ https://xn--mnchen-3ya.de/ https://faß.de/
https://straße.example/ https://例え.jp/ https://пример.рф/ https://xn--e1afmkfd.xn--p1ai/ https://مثال.إختبار/ https://中国.中国/
https://παράδειγμα.gr/ https://ex_ample.com/ https://_dmarc.example.com/ https://a_b.c_d.example.org/ https://a--b.example.com/
https://-a.example.com/ https://a-.example.com/ https://example.photography/ https://example.xn--vermgensberatung-pwb/ https://x.museum/
https://1.example.com/ https://127.0.0.1.example.com/ https://10.example.com/ https://0x7f.example.com/ https://localhost.example.com/
https://notlocalhost/ https://mylocalhost.com/ https://internal.example.com/ https://local.example.com/ https://metadata.example.com/
https://thelocal.se/ https://internal-tools.com/ https://www.internals.io/ https://8.8.8.8/ https://1.1.1.1/ http://134744072/
http://0x08080808/ https://[2606:4700:4700::1111]/ https://[2001:4860:4860::8888]/ https://[2a00:1450:4001:830::200e]/
https://[::ffff:8.8.8.8]/ https://[64:ff9b::808:808]/ https://[2002:808:808::1]/ https://[2620:4f:8000::1]/ https://192.31.196.1/
https://100.63.255.255/ https://100.128.0.1/ https://172.15.0.1/ https://172.32.0.1/ https://169.253.1.1/ https://192.169.0.1/
https://198.17.255.255/ https://198.20.0.1/ https://223.255.255.255/ https://11.0.0.1/ https://9.9.9.9/ https://126.1.1.1/
https://example.co.uk/ https://s3.eu-central-1.amazonaws.com/ https://ab.cd.ef.gh.ij.kl.example.com/ https://☃.net/ https://i❤.ws/
https://xn--i-7iq.ws/ https://1and1.com/ https://3m.com/ https://t.co/ https://x.com/ https://ai/ https://EXAMPLE.com:443/%7Euser
https://аррӏе.com/ https://example.com/http://127.0.0.1/ https://example.com/?u=http://localhost/ https://example.com/@127.0.0.1
https://example.com/#@localhost https://127.0.0.1.nip.io.example.com/ https://xn--80ak6aa92e.com/ https://bücher.example/
"""


# Spellings with characters that a page would not show.
INVISIBLE = (
    "http://localhost\t/",
    "http://lo\ncalhost/",
    "http://\tlocalhost/",
    "\x00 http://localhost/ ",
    "ht\ntp://127.0.0.1/",
    "http://lo\u00adcalhost/",
    "http://lo\u200bcalhost/",
    "http://127.0.\t0.1/",
    "http://127.0.0.1\r\n/",
    "http://1\u200b27.0.0.1/",
    "http://[::1\n]/",
    "http:\t//127.0.0.1",
)


def build_resolver(*answers):
    async def resolve(host):
        return list(answers)

    return resolve


def test_a_non_public_address_is_refused_in_every_spelling(subtests: pytest.Subtests):
    for url in [*REFUSED.split(), *INVISIBLE]:
        with subtests.test(url=url):
            with pytest.raises(Refused) as caught:
                EgressGuard().check_url(url)
            assert caught.value.code == "egress"


def test_an_address_that_no_browser_could_fetch_is_bad_input(subtests: pytest.Subtests):
    for url in [each.strip() for each in BAD.replace("\n", "").split("|")]:
        with subtests.test(url=url):
            with pytest.raises(InvalidInput) as caught:
                EgressGuard().check_url(url)
            assert caught.value.code == "bad_url"


async def test_no_legitimate_address_is_refused(subtests: pytest.Subtests):
    for url in LEGITIMATE.split():
        with subtests.test(url=url):
            guard = EgressGuard(resolve=build_resolver("93.184.215.14"))
            target = guard.check_url(url)
            assert await guard.resolve_addresses(target.host, target.port)


# Answers of a resolver, and the addresses in them that may be dialled.
ANSWERS = [
    (["93.184.215.14"], ["93.184.215.14"]),
    (["2606:4700::1", "93.184.215.14"], ["2606:4700::1", "93.184.215.14"]),
    (["127.0.0.1", "93.184.215.14"], ["93.184.215.14"]),
    (["93.184.215.14", "10.0.0.1", "::1"], ["93.184.215.14"]),
    (["fd00::1", "93.184.215.14"], ["93.184.215.14"]),
    (["::ffff:8.8.8.8"], ["8.8.8.8"]),
    (["::ffff:127.0.0.1", "1.1.1.1"], ["1.1.1.1"]),
    (["64:ff9b::8.8.8.8"], ["64:ff9b::808:808"]),
    (["8.8.8.8", "8.8.8.8"], ["8.8.8.8"]),
    (["127.0.0.1"], None),
    (["0.0.0.0"], None),
    (["::"], None),
    (["::1"], None),
    (["10.0.0.1", "192.168.0.1"], None),
    (["169.254.169.254"], None),
    (["168.63.129.16"], None),
    (["100.100.100.200"], None),
    (["100.64.0.1"], None),
    (["fd00:ec2::254"], None),
    (["fe80::1%eth0"], None),
    (["::ffff:169.254.169.254"], None),
    (["64:ff9b::169.254.169.254"], None),
    (["64:ff9b:1::8.8.8.8"], None),
    (["2002:7f00:1::"], None),
    (["2001:0:4136:e378:8000:63bf:3fff:fdd2"], None),
    (["2606:4700::5efe:192.168.0.1"], None),
    (["224.0.0.251", "ff02::fb"], None),
    (["255.255.255.255"], None),
    (["3fff::1", "2001:db8::1", "192.0.2.1"], None),
    (["198.18.0.1"], None),
    (["192.0.0.170"], None),
]


async def test_only_the_public_answers_of_a_resolver_are_dialled(subtests: pytest.Subtests):
    for answers, dialled in ANSWERS:
        with subtests.test(answers=answers, dialled=dialled):
            guard = EgressGuard(resolve=build_resolver(*answers))
            if dialled is None:
                with pytest.raises(Refused):
                    await guard.resolve_addresses("example.com", 443)
            else:
                assert [str(each) for each in await guard.resolve_addresses("example.com", 443)] == dialled


async def test_a_name_without_addresses_is_unavailable():
    with pytest.raises(Unavailable) as caught:
        await EgressGuard(resolve=build_resolver()).resolve_addresses("example.com", 443)
    assert caught.value.code == "dns"


async def test_the_system_resolver_says_that_a_name_does_not_exist():
    with pytest.raises(Unavailable) as caught:
        await EgressGuard().resolve_addresses("does-not-exist.invalid", 443)
    assert caught.value.code == "dns"


# Settings, host, port, its resolved address, whether it may be reached.
SETTINGS: list[tuple[dict[str, Any], str, int, str, bool]] = [
    ({"allow": ["intranet.example"]}, "intranet.example", 443, "10.0.0.1", True),
    ({"allow": ["intranet.example"]}, "wiki.intranet.example", 443, "10.0.0.1", True),
    ({"allow": ["intranet.example"]}, "notintranet.example", 443, "10.0.0.1", False),
    ({"allow": ["*.intranet.example"]}, "wiki.intranet.example", 443, "fd00::1", True),
    ({"allow": ["*.intranet.example"]}, "intranet.example", 443, "10.0.0.1", False),
    ({"allow": ["INTRANET.example."]}, "intranet.example", 443, "10.0.0.1", True),
    ({"allow": ["bücher.example"]}, "xn--bcher-kva.example", 443, "10.0.0.1", True),
    ({"allow": ["intranet.example"]}, "intranet.example", 443, "127.0.0.1", False),
    ({"allow": ["intranet.example"]}, "intranet.example", 443, "169.254.169.254", False),
    ({"allow": ["intranet.example"]}, "intranet.example", 443, "169.254.1.1", False),
    ({"allow": ["intranet.example"]}, "intranet.example", 8080, "10.0.0.1", False),
    ({"allow": ["intranet.example:8080"]}, "intranet.example", 8080, "10.0.0.1", True),
    ({"allow": ["intranet.example:8080"]}, "intranet.example", 443, "10.0.0.1", False),
    ({"allow": ["intranet.example:*"]}, "intranet.example", 9, "10.0.0.1", True),
    ({"allow": ["example.com:8080"]}, "example.com", 8080, "8.8.8.8", True),
    ({"allow": ["localhost"]}, "localhost", 80, "127.0.0.1", True),
    ({"allow": ["localhost"]}, "app.localhost", 80, "::1", True),
    ({"allow": ["localhost"]}, "localhost", 3000, "127.0.0.1", False),
    ({"allow": ["localhost:3000"]}, "localhost", 3000, "127.0.0.1", True),
    ({"allow": ["localhost:3000"]}, "127.0.0.1", 3000, "", False),
    ({"allow": ["nas.local"]}, "nas.local", 80, "192.168.1.4", True),
    ({"allow": ["10.1.0.0/16"]}, "10.1.2.3", 80, "", True),
    ({"allow": ["10.1.0.0/16"]}, "10.2.0.1", 80, "", False),
    ({"allow": ["10.1.0.0/16"]}, "anything.example", 80, "10.1.0.9", True),
    ({"allow": ["10.1.0.0/16:8080"]}, "10.1.2.3", 8080, "", True),
    ({"allow": ["10.1.0.0/16:8080"]}, "10.1.2.3", 80, "", False),
    ({"allow": ["10.1.0.0/16:8080"]}, "anything.example", 8080, "10.1.0.9", True),
    ({"allow": ["10.1.0.0/16:8080"]}, "anything.example", 8080, "8.8.8.8", False),
    ({"allow": ["::ffff:10.0.0.0/104"]}, "10.2.3.4", 80, "", True),
    ({"allow": ["::1"]}, "::1", 80, "", True),
    ({"allow": ["[::1]:3000"]}, "::1", 3000, "", True),
    ({"allow": ["[fd00::/8]:*"]}, "fd12::1", 9000, "", True),
    ({"allow": ["127.0.0.1:*"]}, "127.0.0.1", 45000, "", True),
    ({"allow": ["0.0.0.0/0"]}, "192.168.0.1", 80, "", True),
    ({"allow": ["0.0.0.0/0"]}, "169.254.169.254", 80, "", False),
    ({"allow": ["169.254.0.0/16"]}, "169.254.169.254", 80, "", False),
    ({"allow": ["169.254.169.254"]}, "169.254.169.254", 80, "", True),
    ({"deny": ["example.com"]}, "example.com", 443, "8.8.8.8", False),
    ({"deny": ["example.com"]}, "www.example.com", 443, "8.8.8.8", False),
    ({"deny": ["example.com"]}, "example.org", 443, "8.8.8.8", True),
    ({"deny": ["*.example.com"]}, "example.com", 443, "8.8.8.8", True),
    ({"deny": ["example.com:80"]}, "example.com", 443, "8.8.8.8", True),
    ({"deny": ["example.com:80"]}, "example.com", 80, "8.8.8.8", False),
    ({"deny": ["8.8.0.0/16"]}, "example.com", 443, "8.8.8.8", False),
    ({"deny": ["8.8.0.0/16"]}, "8.8.4.4", 443, "", False),
    ({"deny": ["8.8.0.0/16"]}, "example.com", 443, "64:ff9b::8.8.8.8", False),
    ({"deny": ["8.8.0.0/16"]}, "example.com", 443, "2002:808:808::1", False),
    ({"deny": ["2606:4700::/32"]}, "example.com", 443, "2606:4700::1", False),
    ({"deny": ["intranet.example"], "allow": ["intranet.example"]}, "intranet.example", 443, "10.0.0.1", False),
    ({"deny": ["10.0.0.0/8"], "allow": ["10.0.0.1"]}, "10.0.0.1", 80, "", False),
    ({"only": True}, "example.com", 443, "8.8.8.8", False),
    ({"only": True}, "8.8.8.8", 443, "", False),
    ({"only": True, "allow": ["example.com"]}, "www.example.com", 443, "8.8.8.8", True),
    ({"only": True, "allow": ["example.com"]}, "example.org", 443, "8.8.8.8", False),
    ({"only": True, "allow": ["8.8.0.0/16"]}, "example.org", 443, "8.8.8.8", True),
    ({"only": True, "allow": ["8.8.0.0/16"]}, "example.org", 443, "1.1.1.1", False),
    ({"only": True, "allow": ["example.com:8443"]}, "example.com", 443, "8.8.8.8", False),
    ({"only": True, "allow": ["example.com"], "deny": ["a.example.com"]}, "a.example.com", 443, "8.8.8.8", False),
    ({"only": True, "allow": ["example.com"]}, "example.com", 443, "10.0.0.1", False),
    ({"only": True, "allow": ["example.com private"]}, "example.com", 443, "10.0.0.1", True),
    ({"only": True, "allow": ["example.com", "10.0.0.0/8"]}, "example.com", 443, "10.0.0.1", True),
    ({"only": True, "allow": ["localhost:3000"]}, "localhost", 3000, "127.0.0.1", True),
    ({"only": True, "allow": ["example.com:8443 private"]}, "example.com", 8443, "169.254.169.254", False),
    ({"allow": ["example.com"]}, "example.com", 443, "10.0.0.1", True),
    ({"allow": ["example.com public"]}, "example.com", 443, "10.0.0.1", False),
    ({"allow": ["example.com:8443 public"]}, "example.com", 8443, "8.8.8.8", True),
    ({"ports": [443]}, "example.com", 80, "8.8.8.8", False),
    ({"ports": [80, 443, 8080]}, "example.com", 8080, "8.8.8.8", True),
    ({"ports": [80, 443, 8080]}, "127.0.0.1", 8080, "", False),
]


async def test_settings_allow_and_deny_exactly_what_they_name(subtests: pytest.Subtests):
    for chosen, host, port, answer, reached in SETTINGS:
        with subtests.test(chosen=chosen, host=host, port=port, answer=answer):
            guard = EgressGuard(EgressSettings(**chosen), build_resolver(answer))
            if reached:
                assert await guard.resolve_addresses(host, port)
            else:
                with pytest.raises(Refused):
                    await guard.resolve_addresses(host, port)


@pytest.mark.parametrize(
    "given",
    [{"allow": ["10.0.0.1 public"]}, {"allow": ["example.com secret"]}, {"deny": ["example.com public"]}],
)
def test_public_is_accepted_only_after_an_allowed_name(given):
    with pytest.raises(ValueError, match="public"):
        EgressSettings(**given)


# Addresses from the operator's own configuration.
TRUSTED = [
    ("http://localhost:8888/", {}, "127.0.0.1", True),
    ("http://127.0.0.1:8888/", {}, "", True),
    ("http://[::1]:8888/", {}, "", True),
    ("http://searx.internal:1/", {}, "10.0.0.1", True),
    ("http://searx:8080/", {"only": True}, "172.18.0.2", True),
    ("http://198.18.0.1/", {}, "", True),
    ("http://169.254.169.254/", {}, "", False),
    ("http://metadata.google.internal/", {}, "169.254.169.254", False),
    ("http://0.0.0.0:80/", {}, "", False),
    ("http://224.0.0.1/", {}, "", False),
    ("http://searx.internal/", {"deny": ["searx.internal"]}, "10.0.0.1", False),
    ("http://10.0.0.1/", {"deny": ["10.0.0.0/8"]}, "", False),
]


async def resolve_url(guard, url):
    target = guard.check_url(url, trusted=True)
    return await guard.resolve_addresses(target.host, target.port, trusted=True)


@pytest.mark.parametrize(("url", "given", "answer", "reached"), TRUSTED)
async def test_an_address_from_the_operator_may_be_private_but_not_denied_or_metadata(url, given, answer, reached):
    guard = EgressGuard(EgressSettings(**given), build_resolver(answer))
    if reached:
        assert await resolve_url(guard, url)
    else:
        with pytest.raises(Refused):
            await resolve_url(guard, url)


BAD_ENTRIES = """
https://example.com example.com/path exa*mple.com * *. .example.com a..b 10.0.0.1/8 10.0.0.0/33 300.1.1.1 example.com:0
example.com:65536 example.com:http [::1 ::1::2 user@example.com 10.0.0.0/8/9 fd00::/200 [fd00::1]x *.10.0.0.1
"""


def test_a_bad_entry_is_named_when_the_settings_are_read(subtests: pytest.Subtests):
    for field in ["allow", "deny"]:
        for entry in ["", " ", *BAD_ENTRIES.split()]:
            with subtests.test(entry=entry, field=field):
                with pytest.raises(ValidationError) as caught:
                    EgressSettings.model_validate({field: ["example.com", entry]})
                assert repr(entry) in str(caught.value)


@pytest.mark.parametrize(
    "bad", [{"ports": [0]}, {"ports": [70000]}, {"alow": []}, {"proxy": "socks5://x"}, {"proxy": "x"}]
)
def test_other_bad_settings_are_errors_too(bad):
    with pytest.raises(ValidationError):
        EgressSettings.model_validate(bad)


def test_a_refusal_names_the_host_and_the_setting_that_would_open_it():
    with pytest.raises(Refused) as caught:
        EgressGuard().check_url("http://localhost:3000/secret?key=1")
    assert "'localhost:3000'" in caught.value.hint
    assert "egress.allow" in caught.value.hint
    assert "secret" not in str(caught.value.to_dict())


def test_adding_the_entry_from_the_hint_allows_the_address(subtests: pytest.Subtests):
    for url in REFUSED.split():
        with subtests.test(url=url):
            try:
                EgressGuard().check_url(url)
            except Refused as error:
                entry = error.hint.split("'")[1]
                EgressGuard(EgressSettings(allow=[entry])).check_url(url)


@st.composite
def spellings(draw):
    """Generate an IPv4 address, and one of the spellings that a browser would understand."""
    number = draw(st.integers(0, 2**32 - 1))
    count = draw(st.integers(1, 4))
    parts = [number >> shift & 0xFF for shift in (24, 16, 8)][: count - 1]
    parts.append(number & (1 << 8 * (5 - count)) - 1)
    text = ".".join(draw(st.sampled_from([str(part), f"0{part:o}", f"0x{part:x}", f"0X{part:X}"])) for part in parts)
    if draw(st.booleans()):
        text = "".join(chr(ord(letter) + 0xFEE0) if letter.isdigit() else letter for letter in text)
    return IPv4Address(number), text + draw(st.sampled_from(["", "."]))


@settings(deadline=None)
@given(spellings(), st.sampled_from(["http://{}/", "https://{}", "http:\\\\{}\\", " http://{}:80 "]))
@example((IPv4Address("127.0.0.1"), "0x7f.1"), "http://{}/")
def test_only_public_addresses_pass_in_any_spelling(spelling, form):
    address, text = spelling
    try:
        target = EgressGuard().check_url(form.format(text))
    except OutriderError:
        assert not classify_address(address).is_public
    else:
        assert target.address == address
        assert classify_address(address).is_public


@settings(deadline=None)
@given(st.integers(0, 2**128 - 1))
def test_an_ipv6_literal_is_reached_if_and_only_if_it_is_public(number):
    address = ip_address(number.to_bytes(16))
    try:
        EgressGuard().check_url(f"http://[{address}]/")
    except Refused:
        assert not classify_address(address).is_public
    else:
        assert classify_address(address).is_public


@settings(deadline=None)
@given(st.text(max_size=80))
def test_any_text_is_a_target_or_a_readable_error(text):
    for prefix in ("", "http://", "https://["):
        with suppress(InvalidInput, Refused):
            EgressGuard().check_url(prefix + text)


REMEDIES = {
    "example.com/page": "start the address with https://",
    "<https://example.com/>": "give the address alone, without quotes and brackets around it",
    '"https://example.com/"': "give the address alone, without quotes and brackets around it",
    "[here](https://example.com/)": "give the address alone, without quotes and brackets around it",
    "https://example.com:99999/": "check the address's host and port",
}


@pytest.mark.parametrize("text", REMEDIES)
def test_an_unparsable_address_is_refused_with_a_specific_hint(text):
    with pytest.raises(InvalidInput) as caught:
        EgressGuard().check_url(text)
    assert caught.value.hint == REMEDIES[text]

"""The rules by which URLs of one page become one key, each with a name by which it can be turned off."""

from __future__ import annotations

__all__ = ["LOOSE_RULES", "STRICT_RULES", "URL_RULES", "is_session", "is_tracking"]

STRICT_RULES = {
    "letter-case": "scheme and host are compared without regard to case",
    "scheme": "http and https are the same where no port is given",
    "scheme-less": "`www.…` and `//…` without a scheme are https",
    "default-port": "port 80 of http and port 443 of https are left out",
    "idn": "an international host is the same in Unicode and in Punycode",
    "trailing-dot": "a dot at the end of the host is left out",
    "empty-path": "no path is the path `/`",
    "dot-segments": "`.` and `..` in the path are followed",
    "double-slash": "several slashes in a row are one",
    "percent-encoding": "what need not be encoded is not, in upper-case digits what must be",
    "unicode-form": "composed and decomposed letters are the same (NFC)",
    "fragment": "what follows `#` is left out, unless it is a route (`#!…`, `#/…`)",
    "text-fragment": "what follows `:~:` in the fragment is left out",
    "tracking": "parameters that say where the visitor came from are left out",
    "session-path": "session ids in the path are left out (`;jsessionid=…`, `/(S(…))/`)",
    "session-query": "session ids in the query are left out",
    "query-order": "parameters are sorted by name; those of one name keep their order",
    "empty-query": "`?` with nothing after it, and parameters that are empty, are left out",
}
"""What both keys do: differences that cannot make another page, or hardly ever do."""

LOOSE_RULES = {
    "trailing-slash": "a slash at the end of the path is left out",
    "www": "`www.` before the host is left out",
    "mobile": "`m.` and `mobile.` before the host, and `.m.` within it, are left out",
    "amp": "`amp.` before the host, `/amp` around the path and the parameter `amp` are left out",
    "index": "`index.html` and the like at the end of the path are left out",
}
"""What the loose key does beyond: differences that often make no other page, and sometimes do."""

URL_RULES = STRICT_RULES | LOOSE_RULES
"""Every rule for URLs, with what it does."""

_TRACKING = frozenset(
    {
        *(
            "gclid",
            "gclsrc",
            "dclid",
            "gbraid",
            "wbraid",
            "gad_source",
            "gad_campaignid",
            "srsltid",
            "_ga",
            "_gl",
        ),
        *("fbclid", "fb_action_ids", "fb_action_types", "fb_ref", "fb_source", "igshid", "igsh"),
        *("msclkid", "twclid", "ttclid", "yclid", "ysclid", "li_fat_id", "epik", "rdt_cid", "wickedid"),
        *(
            "mkt_tok",
            "_hsenc",
            "_hsmi",
            "__hssc",
            "__hstc",
            "__hsfp",
            "hsctatracking",
            "vero_id",
            "oly_enc_id",
        ),
        *(
            "oly_anon_id",
            "_openstat",
            "s_kwcid",
            "ef_id",
            "ncid",
            "cmpid",
            "sr_share",
            "spm",
            "ref_src",
            "ref_url",
        ),
        *("pk_campaign", "pk_kwd", "pk_keyword", "pk_source", "pk_medium", "pk_content", "pk_cid"),
    }
)
_TRACKING_FAMILIES = ("utm_", "mc_", "mtm_", "matomo_", "piwik_", "hsa_", "at_custom")
_SESSION = frozenset(
    {"jsessionid", "phpsessid", "sessionid", "session_id", "sessid", "cfid", "cftoken", "zenid", "oscsid"}
)
_HEXADECIMAL = frozenset("0123456789abcdefABCDEF")


def is_tracking(name: str) -> bool:
    """Whether a parameter of that name, in lower case, says where the visitor came from and not what the page is."""
    return name in _TRACKING or name.startswith(_TRACKING_FAMILIES)


def is_session(name: str, value: str) -> bool:
    """Whether a parameter holds a session; `sid` does where it looks like one, for it names stories elsewhere."""
    if name == "sid":
        return len(value) == 32 and _HEXADECIMAL.issuperset(value)
    return name in _SESSION or name.startswith("aspsessionid")

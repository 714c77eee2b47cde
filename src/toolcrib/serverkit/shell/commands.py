"""The list of programs that are known to only read (`cat`, `ls`, `date`), each with the options and operands
that keep it so.

What is not here is not harmless: an unknown program, an unknown option, and an option that writes a file,
starts a program, reads a list of files from a file, or never ends. Programs that need more than a list of
options are in `readers`, `searches`, `sed` and `git`.
"""

from __future__ import annotations

import re

from toolcrib.serverkit.shell.options import Parsed, Syntax
from toolcrib.serverkit.shell.words import listed

VERSIONED = listed("bash clang cmake curl docker gcc g++ git make node perl psql python python3 sqlite3 tar")
"""Programs that tell their version without reading files of the project, when they run outside of it."""

_PS_COLUMNS = listed("""
    pid ppid pgid sid user ruser uid ruid group gid comm stat state s time cputime etime etimes pcpu %cpu pmem
    %mem rss vsz sz ni nice pri tty tt start start_time lstart wchan psr nlwp
    """)
_SHOWN_VARIABLES = listed("HOME LANG LC_ALL LOGNAME PATH PWD SHELL TERM TZ USER")


def _ps_columns(parsed: Parsed) -> bool:
    """No column with arguments or the environment of processes: keys are given in both.

    `ps aux` runs with a guard that shows the names of programs in their place.
    """
    if parsed.operands:
        first = len(parsed.late) == len(parsed.options)
        sorted_only = all(word.text.startswith("--sort=") for word in parsed.late)
        return first and sorted_only and parsed.operands[0].text == "aux"
    columns = ",".join(value for name, value in parsed.options if name in ("o", "format"))
    return all(column in _PS_COLUMNS for column in re.split(r"[, ]+", columns) if columns)


def _dates(parsed: Parsed) -> bool:
    return all(word.literal and word.text.startswith("+") for word in parsed.operands)


def _shown_variables(parsed: Parsed) -> bool:
    named = [word.text for word in parsed.operands if word.literal]
    return bool(named) and len(named) == len(parsed.operands) and _SHOWN_VARIABLES.issuperset(named)


def _one_folder(parsed: Parsed) -> bool:
    return len(parsed.operands) == 1 and parsed.operands[0].text not in ("-", "")


def _seconds(parsed: Parsed) -> bool:
    return all(re.fullmatch(r"\d{1,2}(\.\d{1,3})?s?", word.text) for word in parsed.operands)


def _no_response_file(parsed: Parsed) -> bool:
    return not any(word.text.startswith("@") for word in parsed.operands)


def _list_of_archive(parsed: Parsed) -> bool:
    """Only `-t`, and no archive on another machine."""
    archives = [value for name, value in parsed.options if name == "f"]
    return parsed.has("t") and len(archives) == 1 and archives[0] != "-" and ":" not in archives[0]


_SUM = Syntax(globs=True, flags="btz", long="binary text tag zero", operands="content")
_LINES = Syntax(
    globs=True,
    flags="qvz",
    values="nc",
    number=True,
    long="lines= bytes= quiet silent verbose",
    operands="content",
)
_NOTHING = Syntax(most=0)

COMMANDS: dict[str, Syntax] = {
    "arch": _NOTHING,
    "b2sum": _SUM,
    "base64": Syntax(flags="di", values="w", long="decode ignore-garbage wrap=", operands="content", most=1),
    "basename": Syntax(globs=True, flags="az", values="s", long="multiple suffix= zero"),
    "cat": Syntax(
        globs=True,
        flags="AbeEnstTuv",
        long="number number-nonblank show-all show-ends show-tabs show-nonprinting squeeze-blank",
        operands="content",
    ),
    "cd": Syntax(operands="name", most=1, check=_one_folder),
    "cksum": Syntax(operands="content"),
    "cmp": Syntax(flags="bls", values="in", long="bytes= ignore-initial= silent quiet", operands="content"),
    "column": Syntax(
        flags="texnJ", values="scoN", long="table separator= output-separator=", operands="content"
    ),
    "comm": Syntax(flags="123iz", long="check-order nocheck-order total", operands="content"),
    "cut": Syntax(
        flags="nsz",
        values="bcdf",
        long="bytes= characters= delimiter= fields= complement only-delimited output-delimiter=",
        operands="content",
    ),
    "date": Syntax(
        flags="uR",
        values="d",
        endings="I",
        long="utc universal date= iso-8601[=] rfc-3339= rfc-email",
        check=_dates,
    ),
    "df": Syntax(
        flags="ahHiklPT",
        values="Btx",
        long="all human-readable si inodes local portability print-type block-size= type= output[=] total",
        operands="name",
    ),
    "dirname": Syntax(globs=True, flags="z", long="zero"),
    "du": Syntax(
        globs=True,
        flags="0abcDhHkLlmPsSx",
        values="dBt",
        long="all apparent-size bytes block-size= total dereference max-depth= human-readable inodes "
        "separate-dirs summarize threshold= time[=] exclude= one-file-system si",
        operands="name",
    ),
    "expand": Syntax(flags="i", values="t", long="initial tabs=", operands="content"),
    "false": Syntax(),
    "file": Syntax(
        flags="bihLN0", long="brief mime mime-type mime-encoding dereference no-dereference", operands="name"
    ),
    "fmt": Syntax(flags="cstu", values="w", long="width=", operands="content"),
    "fold": Syntax(flags="bs", values="w", long="bytes spaces width=", operands="content"),
    "free": Syntax(flags="bkmghltwL", long="human mega giga kibi mebi gibi total wide si", most=0),
    "getconf": Syntax(most=1),
    "groups": Syntax(most=1),
    "head": _LINES,
    "hexdump": Syntax(flags="bcCdovx", values="ns", operands="content"),
    "hostname": Syntax(flags="sI", long="short all-ip-addresses", most=0),
    "id": Syntax(flags="gGnruz", long="group groups name real user", most=1),
    "join": Syntax(flags="i", values="12aejotv", long="ignore-case header", operands="content"),
    "locale": Syntax(flags="am", long="all-locales charmaps", most=0),
    "logname": _NOTHING,
    "ls": Syntax(
        globs=True,
        flags="1aAbBcCdfFgGhHiklLmnNopqQrRsStuUvxXZ",
        values="ITw",
        long="all almost-all author escape block-size= ignore-backups color[=] directory classify[=] "
        "file-type format= full-time group-directories-first no-group human-readable si dereference hide= "
        "ignore= inode kibibytes numeric-uid-gid literal hide-control-chars show-control-chars quote-name "
        "reverse recursive size sort= time= time-style= width= zero",
        operands="name",
    ),
    "lsblk": Syntax(
        flags="abdfilmnpPrStJ", values="o", long="all json list nodeps output= paths", operands="name"
    ),
    "lscpu": Syntax(flags="abceJpxy", long="all json extended[=] parse[=]", most=0),
    "md5sum": _SUM,
    "nl": Syntax(
        globs=True,
        flags="p",
        values="bdfhilnsvw",
        long="body-numbering= number-format= number-width=",
        operands="content",
    ),
    "nproc": Syntax(long="all ignore=", most=0),
    "numfmt": Syntax(long="from= to= suffix= padding= field= header[=] format= round=", values="d"),
    "od": Syntax(
        flags="abcdfhilosvx",
        values="AjNSt",
        endings="w",
        long="skip-bytes= read-bytes= format= width[=]",
        operands="content",
    ),
    "paste": Syntax(flags="sz", values="d", long="serial delimiters=", operands="content"),
    "printenv": Syntax(check=_shown_variables),
    "ps": Syntax(
        flags="Ae", values="opu", long="format= pid= user= sort= no-headers", most=1, check=_ps_columns
    ),
    "pwd": Syntax(flags="LP", most=0),
    "readlink": Syntax(
        globs=True, flags="femnqsvz", long="canonicalize canonicalize-existing no-newline", operands="name"
    ),
    "realpath": Syntax(
        globs=True, flags="emLPqsz", long="no-symlinks relative-to= relative-base= strip", operands="name"
    ),
    "rev": Syntax(operands="content"),
    "seq": Syntax(flags="w", values="fs", long="equal-width format= separator="),
    "sha1sum": _SUM,
    "sha224sum": _SUM,
    "sha256sum": _SUM,
    "sha384sum": _SUM,
    "sha512sum": _SUM,
    "sleep": Syntax(most=1, check=_seconds),
    "sort": Syntax(
        flags="bdfghiMnRrVuzcCs",
        values="kt",
        long="reverse unique numeric-sort general-numeric-sort human-numeric-sort version-sort month-sort "
        "ignore-case ignore-leading-blanks dictionary-order stable key= field-separator= zero-terminated "
        "check[=]",
        operands="content",
    ),
    "stat": Syntax(
        globs=True,
        flags="fLt",
        values="c",
        long="dereference file-system format= printf= terse",
        operands="name",
    ),
    "strings": Syntax(
        flags="afw",
        values="nte",
        number=True,
        long="all bytes= radix= encoding=",
        operands="content",
        check=_no_response_file,
    ),
    "sum": Syntax(flags="rs", operands="content"),
    "tac": Syntax(globs=True, flags="br", values="s", long="before regex separator=", operands="content"),
    "tail": _LINES,
    "tar": Syntax(flags="tvzjJ", values="f", operands="text", check=_list_of_archive),
    "tr": Syntax(flags="cCdst", long="complement delete squeeze-repeats truncate-set1"),
    "tree": Syntax(
        flags="adflhspDCnFiughQqNrtSv",
        values="LIP",
        long="dirsfirst noreport gitignore prune du charset= filelimit= sort= filesfirst matchdirs "
        "ignore-case",
        operands="name",
    ),
    "true": Syntax(globs=True),
    "tsort": Syntax(operands="content"),
    "tty": Syntax(flags="s", most=0),
    "uname": Syntax(
        flags="asnrvmpio", long="all kernel-name nodename kernel-release machine operating-system", most=0
    ),
    "unexpand": Syntax(flags="a", values="t", long="all first-only tabs=", operands="content"),
    "uniq": Syntax(
        flags="cdDiuz",
        values="fsw",
        long="count repeated unique ignore-case skip-fields= skip-chars= check-chars=",
        operands="content",
        most=1,
    ),
    "unzip": Syntax(flags="lvZ1", operands="name", most=1, check=lambda parsed: parsed.has("l", "Z")),
    "uptime": Syntax(flags="ps", long="pretty since", most=0),
    "users": _NOTHING,
    "wc": Syntax(globs=True, flags="clLmw", long="bytes chars lines max-line-length words", operands="name"),
    "which": Syntax(flags="as", long="all"),
    "who": Syntax(flags="abHlmqrTu", long="all boot count heading", most=0),
    "whoami": _NOTHING,
    "xxd": Syntax(flags="pbueiaEC", values="lcsgo", operands="content", most=1),
}

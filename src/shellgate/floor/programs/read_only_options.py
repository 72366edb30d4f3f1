"""Options with which a program still only reads: lists of allowed ones, for programs that can do more.

The shipped policy asks about an option outside the list; the floor has its own view of it. A program that is not here
can only read, whatever its options.
"""

from collections.abc import Iterator, Sequence

from shellgate.floor.arguments.shell_words import may_be_option
from shellgate.floor.arguments.usage_tables import arguments, names
from shellgate.floor.programs import usage_of
from shellgate.shell.program import Word

UNCLEAR = "it has an option that may do more than read"

_OF_DIFF = """
    oneline graph all decorate no-decorate stat numstat shortstat dirstat name-only name-status patch no-patch
    patch-with-stat raw format pretty abbrev-commit no-abbrev-commit abbrev no-abbrev full-index binary since until
    after before author committer grep all-match invert-grep perl-regexp fixed-strings extended-regexp basic-regexp
    regexp-ignore-case max-count skip merges no-merges first-parent min-parents max-parents reverse date-order
    author-date-order topo-order date relative-date parents children left-right left-only right-only cherry-pick
    cherry-mark cherry simplify-by-decoration full-history ancestry-path dense sparse branches tags remotes glob
    exclude not follow pickaxe-all pickaxe-regex ignore-all-space ignore-space-change ignore-space-at-eol
    ignore-blank-lines ignore-cr-at-eol word-diff word-diff-regex color-words color no-color color-moved no-color-moved
    no-ext-diff no-textconv no-renames find-renames find-copies find-copies-harder diff-filter cached staged
    merge-base unified inter-hunk-context function-context exit-code quiet check summary compact-summary minimal
    patience histogram diff-algorithm indent-heuristic no-indent-heuristic src-prefix dst-prefix no-prefix line-prefix
    text ignore-submodules submodule relative no-relative cc reflog walk-reflogs no-walk do-walk boundary count source
    use-mailmap mailmap no-mailmap notes no-notes decorate-refs decorate-refs-exclude clear-decorations log-size
    numbered email group no-index cherry-mark combined-all-paths no-commit-id pretty remerge-diff diff-merges root
    0 1 2 3 4 5 6 7 8 9 p u s S G L i E F P n w b W M C D B R q z a c m t r g e U l
"""
_OF_REFERENCES = """
    show-toplevel abbrev-ref short verify git-dir git-common-dir git-path is-inside-work-tree is-inside-git-dir
    is-bare-repository show-prefix show-cdup absolute-git-dir symbolic symbolic-full-name local-env-vars path-format
    show-superproject-working-tree quiet default sq sq-quote flags no-flags revs-only no-revs all branches tags remotes
    porcelain branch long untracked-files ignored column no-column verbose ahead-behind no-ahead-behind renames
    no-renames find-renames show-stash ignore-submodules null cached deleted modified others stage unmerged killed
    exclude exclude-from exclude-standard exclude-per-directory error-unmatch full-name recurse-submodules abbrev
    deduplicate eol directory no-empty-directory name-only name-status object-only full-tree format always match
    contains candidates
    exact-match dirty broken first-parent batch batch-check batch-all-objects unordered buffer octopus is-ancestor
    fork-point independent refs head heads dereference hash exists sort count points-at merged no-merged no-contains
    ignore-case shell perl python tcl human-readable no-index non-matching source full strict unreachable dangling
    no-dangling no-progress connectivity-only topo-order date-order more list current sha1-name topics reflog color
    s b u z v t l d m o i k x X f e p h c a r n q H
"""
_OF_FINDERS = """
    regexp file max-count after-context before-context context glob iglob type type-not threads max-columns encoding
    max-depth maxdepth replace color colors sort sortr line-number no-line-number ignore-case smart-case case-sensitive
    invert-match word-regexp line-regexp count count-matches files-with-matches files-without-match only-matching
    with-filename no-filename heading no-heading fixed-strings pcre2 multiline multiline-dotall null text byte-offset
    quiet hidden no-hidden no-ignore no-ignore-vcs no-ignore-parent files type-list json stats vimgrep pretty trim
    column no-messages passthru no-config follow version help max-filesize ignore-dir ignore
    context-separator path-separator unrestricted literal group nogroup nocolor color numbers nonumbers
    include exclude include-dir exclude-dir
    recursive max-columns-preview no-column one-file-system python js cc ruby perl
    0 1 2 3 4 5 6 7 8 9 e m A B C g t T j M E d r n N i S s v w x c l L o H I h F P U a b q u . R
"""
_LISTS = {
    "sed gsed ssed": """
        quiet silent expression regexp-extended separate unbuffered null-data zero-terminated line-length posix debug
        sandbox help version n r E s u z l e""",
    "awk gawk mawk nawk": "field-separator assign source version help F v e V",
    "fd fdfind": """
        hidden no-hidden no-ignore no-ignore-vcs unrestricted case-sensitive ignore-case glob fixed-strings regex
        absolute-path list-details full-path extension type max-depth min-depth exact-depth exclude size changed-within
        changed-before owner color threads print0 max-results follow quiet strip-cwd-prefix version help search-path
        base-directory and prune format H I u s i g F a l p e t d E S o c j 0 1 L q""",
    "rg ripgrep ag ack ugrep": _OF_FINDERS,
    "jq gojq jaq": """
        raw-output raw-output0 join-output ascii-output color-output monochrome-output sort-keys slurp null-input
        compact-output exit-status raw-input tab indent arg argjson slurpfile rawfile args jsonargs seq stream
        stream-errors unbuffered version help r j a C M S s n c e R""",
    "yq xq tomlq": """
        output-format input-format indent prettyPrint colors no-colors no-doc null-input exit-status raw-output
        unwrapScalar compact-output yaml-output version help r P o p I e C M N j n c y""",
    "less": """
        LINE-NUMBERS chop-long-lines RAW-CONTROL-CHARS raw-control-chars quit-if-one-screen no-init ignore-case
        IGNORE-CASE squeeze-blank-lines version help N S R F X r i I n e E m M s g G x p""",
    "more": "silent logical clean-print squeeze plain lines version help d l f p c s u n 0 1 2 3 4 5 6 7 8 9",
    "bat batcat": """
        language style theme line-range highlight-line paging color number plain show-all tabs wrap terminal-width
        decorations file-name squeeze-blank list-themes list-languages version help l r H n p P A S f s""",
    "file": """
        brief mime mime-type mime-encoding separator exclude keep-going dereference no-dereference no-buffer no-pad raw
        extension parameter print0 special-files debug version help b i F e k L h n N r E P s d 0 v""",
    "ss": """
        tcp udp listening numeric all processes summary unix extended memory info options raw ipv4 ipv6 resolve
        no-header oneline version help t u l n a p s x e m i o w 4 6 r H O h V""",
    "netstat": "tcp udp listening numeric all programs route statistics interfaces extend t u l n a p s r i e 4 6 W",
    "lsof": "i P n p u c d t s a F l R",
    "git log/shortlog/whatchanged/rev-list/cherry/diff/show/diff-tree/diff-index/diff-files/range-diff": _OF_DIFF,
    "git status/rev-parse/ls-files/ls-tree/describe/cat-file/merge-base/name-rev/show-ref/for-each-ref/count-objects"
    "/check-ignore/check-attr/fsck/show-branch": _OF_REFERENCES,
    "git blame/annotate": """
        porcelain line-porcelain incremental root show-name show-number show-email show-stats date since abbrev
        ignore-rev ignore-revs-file color-lines color-by-age first-parent contents progress no-progress
        L l t f n s e w p c M C S b""",
    "git grep": """
        ignore-case word-regexp invert-match extended-regexp basic-regexp perl-regexp fixed-strings line-number
        files-with-matches files-without-match name-only count color no-color heading break show-function
        function-context max-depth max-count and or not all-match quiet cached untracked no-index exclude-standard
        no-exclude-standard recurse-submodules column only-matching full-name null threads after-context
        before-context context text no-textconv recursive no-recursive
        0 1 2 3 4 5 6 7 8 9 e f m A B C i w v E G F P n l L c o h H p W q z r a I""",
}


def _by_name() -> Iterator[tuple[str, frozenset[str]]]:
    for called, options in _LISTS.items():
        for name in called.split() if not called.startswith("git ") else _subcommands(called):
            yield name, names(options)


def _subcommands(called: str) -> Iterator[str]:
    return (f"git {each}" for each in called.removeprefix("git ").split("/"))


_OPTIONS = dict(_by_name())

# Subcommands of programs that do much else, with their harmless options: each only lists.
_SAYS = {
    "npm pnpm": (
        names("ls list root prefix"),
        names("--all -a --long --json --parseable --depth -g --global --prod --dev"),
    ),
    "pip": (
        names("list show freeze check"),
        names("--format --local -l --user --not-required --exclude --files -f --verbose -v --all"),
    ),
    "gem": (names("list"), names("--local -l")),
    "conda mamba": (names("list info"), names("--json")),
    "rustup": (names("show"), names("")),
    "go": (names("version"), names("-m")),
    "man": (names("-k -f -w"), names("")),
}
_SAYING = {name: said for called, said in _SAYS.items() for name in called.split()}
_LISTED_IN_FILES = names("nm objdump readelf size strings")  # a file named by `@` may hold more words
_BIN = names("/bin /sbin /usr/bin /usr/sbin /usr/local/bin /usr/local/sbin /opt/homebrew/bin")
_OF_ITSELF = frozenset({"--version", "--help"})
_VERSIONS = {
    "go": "version",
    "python": "-V",
    "node": "-v",
    "npm": "-v",
    "java": "-version",
    "perl": "-v",
    "php": "-v",
}


def says_of_itself(path: str, name: str, arguments_: Sequence[Word]) -> bool:
    """Tell whether a known program is only asked for its version, its help, or a list of installed things."""
    values = [word.value for word in arguments_]
    if "/" in path or None in values:
        return False
    if len(values) == 1 and usage_of(name) is not None and values[0] in (*_OF_ITSELF, _VERSIONS.get(name)):
        return True
    return _only_lists(name, [value or "" for value in values])


def _only_lists(name: str, values: list[str]) -> bool:
    verbs, options = _SAYING.get(name, (frozenset(), frozenset()))
    if not values or values[0] not in verbs:
        return False
    return all(not each.startswith("-") or each.partition("=")[0] in options for each in values[1:])


def is_elsewhere(path: str) -> bool:
    """Tell whether a program is named by a path outside the system's folders: whatever its name, it is unknown."""
    return "/" in path and path.rpartition("/")[0] not in _BIN


def concern(name: str, words: Sequence[Word]) -> str | None:
    """Return why a program that mostly reads may do more here, as a clause; None if all its options only read."""
    if name in _LISTED_IN_FILES and any(word.known_start.startswith("@") for word in words):
        return UNCLEAR
    listed, usage = _OPTIONS.get(name), usage_of(*name.split())
    if listed is None or usage is None:
        return None
    found = arguments(words, usage)
    given = found.flags | {option.name for option, _ in found.values}
    if (
        given <= listed
        and not any(map(_may_hide, words))
        and not any(_is_option(value) for _, value in found.values)
    ):
        return None
    return UNCLEAR


def _is_option(value: Word) -> bool:
    """Tell whether an option's value looks like an option: it is one, if the first takes no value after all."""
    return value.known_start.startswith("-") and value.value != "-"


def _may_hide(word: Word) -> bool:
    return may_be_option(word) or (word.known_start.startswith("-") and word.value is None)

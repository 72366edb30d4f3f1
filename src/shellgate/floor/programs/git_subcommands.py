"""The subcommands of `git`: which of their options run something, and which of their words are paths."""

from shellgate.floor.arguments.usage_tables import table

USAGES = table("""
# names | operands | options with a value | marks
git/log git/shortlog git/whatchanged git/rev-list git/cherry git/show git/diff git/diff-tree git/diff-index
    git/diff-files git/range-diff | r* | output=w grep=t author=t since=t until=t format?=t pretty?=t S=t G=t L=t
    O=r n=t | harmless unless=output,ext-diff,textconv
git/status git/rev-parse git/ls-files git/ls-tree git/describe git/cat-file git/merge-base git/name-rev
    git/show-ref git/for-each-ref git/count-objects git/var git/version git/check-ignore
    git/check-attr git/fsck git/show-branch git/get-tar-commit-id | t* |
    X=r exclude-from=r format=t | harmless unless=textconv,filters
git/blame git/annotate | r* | contents=r S=r ignore-revs-file=r L=t | harmless unless=textconv
git/grep | t r* | e=t f=r O,open-files-in-pager?=s m=t A=t B=t C=t | harmless unless=O,textconv given=e,f
git/ls-remote | t* | upload-pack=s exec=s |
git/help git/verify-commit git/verify-tag | t* | |
git/commit | t* | m,message=t F,file=r t,template=r author=t date=t C=t c=t trailer=t fixup=t squash=t
    pathspec-from-file=r |
git/stash | t* | m,message=t output=w pathspec-from-file=r |
git/tag git/notes git/merge git/cherry-pick git/revert | t* | m,message=t F,file=r u=t X=t s=t n=t |
git/add git/rm git/mv git/checkout git/switch git/restore git/hash-object git/update-index git/sparse-checkout
    | r* | pathspec-from-file=r s,source=t exclude=t |
git/lfs | r* | to=w I,include=t X,exclude=t |
git/apply git/am | r* | directory=t exclude=t include=t build-fake-ancestor=w p=t C=t patch-format=t whitespace=t |
git/checkout-index | r* | prefix=t stage=t |
git/read-tree | t* | prefix=t index-output=w exclude-per-directory=t |
git/reset git/clean git/gc git/prune git/update-ref git/replace git/branch git/bisect git/reflog git/symbolic-ref
    git/maintenance git/rerere git/request-pull git/write-tree git/commit-tree git/flow | t* |
    pathspec-from-file=r e=t m=t u=t F=r output=w |
git/rebase | t* | x,exec=s onto=t s=t X=t |
git/clone | r* | u,upload-pack=s template=t separate-git-dir=w reference=r reference-if-able=r c,config=t depth=t
    b,branch=t o,origin=t j=t bundle-uri=t |
git/init git/init-db | r* | template=t separate-git-dir=w b,initial-branch=t shared?=t object-format=t |
git/fetch git/pull git/push git/fetch-pack git/send-pack | t* | upload-pack=s receive-pack=s exec=s o=t
    depth=t refmap=t |
git/upload-pack git/upload-archive git/receive-pack | r* | timeout=t |
git/archive | t* | exec=s o,output=w remote=t format=t prefix=t add-file=r add-virtual-file=t |
git/format-patch | t* | o,output-directory=w signature-file=r output=w n=t |
git/fast-export git/fast-import | t* | export-marks=w import-marks=r import-marks-if-exists=r export-pack-edges=w |
git/bundle git/worktree | t r* | b=t B=t reason=t |
git/submodule git/remote | t* | b=t reference=r name=t t=t m=t |
git/difftool git/mergetool | t* | x,extcmd=s t,tool=t |
git/filter-branch | t* | tree-filter=s index-filter=s msg-filter=s env-filter=s commit-filter=s
    parent-filter=s tag-name-filter=s subdirectory-filter=t setup=s d=w |
git/filter-repo | t* | path=t path-glob=t path-regex=t path-rename=t paths-from-file=r replace-text=r mailmap=r
    source=r target=w commit-callback=c blob-callback=c message-callback=c filename-callback=c refname-callback=c
    name-callback=c email-callback=c tag-callback=c reset-callback=c |
git/send-email | r* | smtp-server=s sendmail-cmd=s to-cmd=s cc-cmd=s header-cmd=s from=t to=t cc=t subject=t |
git/credential-store git/credential-cache | t* | file=w socket=w timeout=t |
git/config | t* | f,file=r blob=t type=t default=t value=t comment=t url=t |
git/interpret-trailers | w* | trailer=t where=t if-exists=t if-missing=t |
git/mailinfo | w* | encoding=t |
git/mailsplit | r* | o=w d=t f=t |
git/pack-objects git/index-pack | w* | o=w |
git/bugreport git/diagnose | t* | o,output-directory=w s,suffix=t |
git/for-each-repo | t* | config=t |
git/column | t* | command=t |
git/hook | t* | to-stdin=r |
git/cvsimport | t* | C=w d=s b=s exec=s |
git/instaweb git/daemon git/credential git/svn git/p4 | t* | d=s b=s exec=s |
""")

"""The subcommands of `git`: which of their options run something, and which of their words are paths."""

from hubbub.node.gate.floor.usage import table

USAGES = table("""
# names | operands | options with a value | marks
git/log git/shortlog git/whatchanged git/rev-list git/cherry | t* | output=w grep=t author=t since=t until=t
    format?=t pretty?=t S=t G=t L=t n=t | harmless unless=output,ext-diff,textconv
git/status git/rev-parse git/ls-files git/ls-tree git/describe git/cat-file git/merge-base git/name-rev
    git/show-ref git/for-each-ref git/count-objects git/var git/version git/check-ignore
    git/check-attr git/fsck git/show-branch git/get-tar-commit-id | t* |
    X=r exclude-from=r format=t | harmless unless=textconv,filters
git/diff git/show git/diff-tree git/diff-index git/diff-files git/range-diff | r* | output=w format?=t
    pretty?=t O=r | harmless unless=output,ext-diff,textconv
git/blame git/annotate | r* | contents=r S=r ignore-revs-file=r | harmless unless=textconv
git/grep | t r* | e=t f=r O,open-files-in-pager?=s m=t A=t B=t C=t | harmless unless=O,textconv given=e,f
git/ls-remote | t* | upload-pack=s exec=s |
git/help git/verify-commit git/verify-tag | t* | |
git/commit | t* | m,message=t F,file=r t,template=r author=t date=t C=t c=t trailer=t fixup=t squash=t
    pathspec-from-file=r |
git/tag git/notes git/stash git/merge git/cherry-pick git/revert | t* | m,message=t F,file=r u=t X=t s=t n=t |
git/add git/rm git/mv git/checkout git/switch git/restore git/apply git/am git/hash-object | r* |
    pathspec-from-file=r directory=r s,source=t exclude=t |
git/reset git/clean git/gc git/prune git/update-ref git/replace git/branch git/bisect git/reflog | t* |
    pathspec-from-file=r e=t m=t u=t |
git/rebase | t* | x,exec=s onto=t s=t X=t |
git/clone git/init | r* | u,upload-pack=s template=r separate-git-dir=w reference=r c,config=t depth=t
    branch=t origin=t |
git/fetch git/pull git/push git/fetch-pack git/send-pack | t* | upload-pack=s receive-pack=s exec=s o=t
    depth=t refmap=t |
git/archive | t* | exec=s o,output=w remote=t format=t prefix=t add-file=r |
git/format-patch | t* | o,output-directory=w signature-file=r output=w n=t |
git/bundle git/worktree | t r* | b=t B=t reason=t |
git/submodule git/remote | t* | b=t reference=r name=t t=t m=t |
git/difftool git/mergetool | t* | x,extcmd=s t,tool=t |
git/filter-branch | t* | tree-filter=s index-filter=s msg-filter=s env-filter=s commit-filter=s
    parent-filter=s tag-name-filter=s subdirectory-filter=t setup=s d=w |
git/send-email | r* | smtp-server=s sendmail-cmd=s to-cmd=s cc-cmd=s header-cmd=s from=t to=t cc=t subject=t |
git/credential-store git/credential-cache | t* | file=w socket=w timeout=t |
git/config | t* | f,file=e blob=t type=t default=t |
git/instaweb git/daemon git/credential git/svn git/p4 git/cvsimport | t* | d=s b=s exec=s |
""")

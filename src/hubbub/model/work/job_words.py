"""Words of tasks in English and Chinese: verbs, and words that do not tell one task from another."""

import re

_DEEDS = {
    "fix": "fix fixes fixed fixing repair repairs resolve resolves solve correct patch mend"
    " 修复 修正 解决 修好 修理 纠正 修",
    "add": "add adds adding implement implements create creates introduce build write provide"
    " 添加 增加 新增 实现 创建 编写 加上 加入 引入 提供 补充 撰写 写 加",
    "change": "update updates improve improves change adjust rework revise enhance extend refine polish 更新 改进 修改"
    " 调整 完善 改善 改",
    "speed": "optimise optimize speed accelerate 优化 加快 提速 加速",
    "remove": "remove removes delete deletes drop drops strip disable 删除 移除 去掉 删掉 去除 禁用 停用",
    "rename": "rename renames 重命名 改名",
    "move": "move moves relocate migrate 迁移 搬",
    "split": "split splits 拆分",
    "merge": "merge merges 合并",
    "review": "review reviews check verify audit reviewing inspect 审查 评审 检查 审核 核对 验证 复核",
    "test": "test tests testing 测试",
    "document": "document documents doc docs documentation describe explain 文档 说明",
    "translate": "translate translates localise localize translation 翻译",
    "revert": "revert reverts undo rollback 回滚 撤销 还原",
    "upgrade": "upgrade upgrades bump 升级",
    "investigate": "investigate diagnose analyse analyze explore research debug study 调查 排查 分析 研究 定位 调研",
    "release": "release releases publish ship deploy 发布 部署 上线",
    "refactor": "refactor refactors simplify restructure tidy cleanup 重构 简化 整理",
    "plan": "plan plans design propose draft 设计 规划 计划",
    "enable": "enable enables 启用 开启",
}
DEEDS = {word: deed for deed, words in _DEEDS.items() for word in words.split()}
# Work on a thing other than making it: never one job with making it, or with each other.
OPPOSED = frozenset(
    "review test document translate revert investigate release remove plan rename upgrade merge".split()  # noqa: SIM905
)
TELLING = frozenset(
    {"work", "until", "when", "if", "after", "while", "because", "since"}
)  # no verb follows them
MADE = frozenset({"test", "document", "translate"})  # adding tests is testing

STOP_WORDS = frozenset(
    """a an the this that these those it its they them their there here i we you our your us my me to of in on at by
    for from with into onto and or as is are was were be been being am has have had do does did done doing will would
    shall should must can could may might need needs needed want wants please kindly so then than also just again now
    still yet when while where which who what how why if because since after before until about over under out up off
    all any some each every more most very too new properly correctly really actually currently always sometimes often
    lets let us get gets got goes go help one issue issues problem problems bug bugs thing things task todo work code
    sure such only own per via using use used uses make across s""".split()  # noqa: SIM905
)

# Two words that others join.
TWO_WORDS = {
    "time out": "timeout", "tim out": "timeout", "log in": "login", "logg in": "login", "sign in": "login",
    "set up": "setup", "read me": "readme", "data base": "database", "file name": "filename", "drop down": "dropdown",
    "web hook": "webhook", "back end": "backend", "front end": "frontend", "roll back": "rollback", "back up": "backup",
    "start up": "startup", "name space": "namespace", "work flow": "workflow", "end point": "endpoint",
    "white space": "whitespace", "check box": "checkbox", "short cut": "shortcut", "tool tip": "tooltip",
    "log out": "logout", "sign out": "logout", "sign up": "signup",
}  # fmt: skip

# Endings of English words, their replacements, and how much has to remain. The first match counts.
ENDINGS = (
    ("ations", "ate", 3), ("ation", "ate", 3), ("ications", "y", 3), ("ies", "y", 2), ("sses", "ss", 2),
    ("xes", "x", 2), ("ches", "ch", 2), ("shes", "sh", 2), ("ings", "", 3), ("ing", "", 3),
    ("eed", "eed", 1), ("ed", "", 3), ("us", "us", 1), ("ss", "ss", 1), ("is", "is", 1), ("s", "", 3),
)  # fmt: skip

_SAYS_NOTHING = (
    "请你|请|一下|一个|一些|这个|那个|我们|需要|必须|应该|应|可以|问题|的时候|时候|之后|以及|并且|如果|因为|所以|关于|对于"
    "|的|了|在|把|将|给|为|和|与|及|并|让|使|被"
)
NUMBERS = frozenset(
    """two three four five six seven eight nine ten first second third fourth fifth sixth last january february
    march april june july august september october november december monday tuesday wednesday thursday friday saturday
    sunday""".split()  # noqa: SIM905
)  # numbers and dates, in letters
_CHINESE_DEEDS = sorted((word for word in DEEDS if not word.isascii()), key=len, reverse=True)
HALVES = re.compile(
    f"({'|'.join(each for each in _CHINESE_DEEDS if len(each) > 1)}|^[修写加改搬])|{_SAYS_NOTHING}"
)

"""The forms of an order about the task, in Chinese: 不要切换到金融, 请按经济学处理, 本文不是金融论文.

As in English an order begins a clause or has the task as its subject, and nothing but the name, or a word for a task,
is what it ends with: 危机不是金融问题 is about a crisis, 不能用金融手段解决 about a remedy.
"""

from __future__ import annotations

from typing import Final

from qiongli.patterns import LazyPattern

_TASK: Final = (
    r"(?:(?:(?:这|此|本|该|我的?|我们的?)(?:一)?[个篇项份]?(?:文章?|论文|任务|研究|课题|项目|稿件?|题目|选题|主题|"
    r"工作|作业|"
    r"内容|文本|摘要|报告)|本文|此文|任务|论文|文章)(?:的)?(?:学科|领域|方向|主题)?)"
)
_OBJECT: Final = rf"(?:(?:[把将让]|请把)?(?:{_TASK}|它|其|此|这个?|这些))?"
_REQUEST: Final = (
    r"(?:但是?|所以|因此|而且|并且?|故|另外|此外|注意|记住|总之|也|还|同时|且|那么?|务必|千万|麻烦|您?|你|"
    r"我们?希望(?:您|你)?|"
    r"(?:您|你)?(?:应该?|应当|必须|可以|能否|能不能)|(?<![申邀聘恳提敬宴吁])请(?:你|您)?)*"
)
_BEGIN: Final = rf"(?:(?:^|[,.;:!?\n()] ?|(?<![申邀聘恳提敬宴吁])请|务必|千万|麻烦你?){_REQUEST})"
_NOT: Final = (
    r"(?:不要|不必|不用|请勿|切勿|勿|别|不得|无需|无须|毋须|禁止|避免|不准|不许|不可以?|不应该?|不应当|不该|不能|"
    r"不宜|不希望|不想)"
    r"(?:再|轻易|随意|随便|错误地|误)?"
)
_TURN: Final = (
    r"(?:切换|转换|转移|转|归类|归入|归|当作|当成|当|视为|视作|视|看作|看成|看|路由|改|划归|划分|划|按照?|按|依照?|"
    r"用|使用|采用|处理|理解|"
    r"定位|定|标记|标|套用|变成|变|写成|写|做成|做|走|往|列|分类|归属|纳入|放|认作|认定|认为是)"
)
_TO: Final = r"(?:到|为|成|至|入|作|进|给|向|了|在|是)?(?:一[篇个项种份])?(?:纯|普通)?"
_NAMING: Final = r"(?:推荐|建议|使用|用|选择|选用|选|加载|启用|激活|引入|考虑|采用|套用|提|涉及|加入|要)(?:任何)?"
_STANDARDS: Final = r"(?:标准|规范|要求|规则|准则|惯例|范式|方式|框架|规矩|口径)"
_NOUN: Final = r"(?:论文|文章|任务|课题|问题|研究|领域|学科|主题|题目|稿件?|项目|方向|范畴|专业|类别?|学派)"
#: What the order's clause ends with; more Han would be something else: 金融数据, 经济标准划分地区.
_END: Final = r"(?: ?[,.;:!?\n()]| ?$| [a-z]|(?=而|并|但|也|因为|以免|否则))"
_REST: Final = (
    rf"(?:学|科(?![技学])|类|的|{_NOUN}|{_STANDARDS}|来|去|处理|对待|看待|理解|写作?|评审|审稿|审阅|评估|评价|路由|"
    r"归类|分类|研究|讨论|"
    r"这边|里面?|之?[中下内]|上|了|吧|啊|哦|呢|方面|即可|就行|就好|就可以了?|进行|本文|此文|它)*"
)
_OPEN: Final = LazyPattern(rf" ?{_REST}{_END}")
_STRICT: Final = LazyPattern(rf" ?(?:学|科(?![技学])|{_NOUN}|类|了|吧|啊|哦|呢|来|的|标准|规范|包)*{_END}")
_PAPER: Final = LazyPattern(rf" ?学?类?的?(?:论文|文章|任务|课题|稿件?|项目){_END}")
_RULES: Final = LazyPattern(
    rf" ?学?类?的?(?:来|进行|{_STANDARDS})?(?:{_STANDARDS}|来|进行|处理|对待|评审|审稿|审阅|写作?|评估|路由|归类|"
    r"分类|要求)"
    rf"{_REST}{_END}"
)

_ORDERS: Final = tuple(
    (role, LazyPattern(rf"(?:{pattern}) ?$"), needed)
    for role, pattern, needed in (
        ("exclude", rf"{_BEGIN}{_NOT}{_OBJECT}{_TURN}{_TO}", _OPEN),
        ("exclude", rf"{_BEGIN}{_OBJECT}{_NOT}(?:被)?{_TURN}{_TO}", _OPEN),
        ("exclude", rf"{_BEGIN}{_NOT}{_NAMING}", _STRICT),
        ("exclude", rf"{_BEGIN}(?:排除|忽略|跳过|去掉|剔除|禁用|撇开|抛开|屏蔽|停用|关闭)", _STRICT),
        ("exclude", rf"(?:{_BEGIN}我们?)(?:不想要?|不要|不需要|不希望)(?:{_OBJECT}(?:被)?{_TURN}{_TO})?", _STRICT),
        (
            "exclude",
            rf"{_BEGIN}(?:{_TASK}|这|它)(?:并?不是|并非|不属于|不算是?|绝非|绝不是)(?:一[篇个项种份])?",
            _STRICT,
        ),
        ("exclude", rf"{_BEGIN}(?:并?不是|并非|不属于)(?:一[篇个项种份])?", _PAPER),
        (
            "exclude",
            rf"{_BEGIN}{_OBJECT}(?:保持|留|限定|归|{_TURN})[^,.;!?\n]{{1,12}}(?: ,)? ?(?:而不是|而非|不是|"
            rf"不要{_TURN}{_TO})",
            _STRICT,
        ),
        (
            "keep",
            rf"{_BEGIN}(?:{_OBJECT}(?:仍然?|继续|就|仅|只|一律|统一|严格|应该?|应当|必须|要)*)(?:按照?|依照?|以|用|"
            r"采用|使用|遵循)",
            _RULES,
        ),
        (
            "keep",
            rf"{_BEGIN}{_OBJECT}(?:仍然?|继续|就|仅|只|始终|应该?|应当|必须|要|被)*(?:归入|归为|归到|归类为|归类到|"
            r"当作|当成|视为|"
            rf"视作|看作|路由到|切换到|保持在|保留在|限定在|限制在|定位为|定为|放在|放到|划入|纳入){_TO}",
            _OPEN,
        ),
        (
            "keep",
            rf"(?:(?<![申邀聘恳提敬宴吁])请|务必|{_BEGIN}{_TASK}){_OBJECT}(?:仍然?|继续|就|仅|只|始终|应该?|应当|"
            r"必须|要)*留在",
            _OPEN,
        ),
    )
)
_REPORT: Final = LazyPattern(
    r"(?:审稿人|编辑|导师|同事|他们?|她们?|有人|评审)[^,.;!?\n]{0,8}(?:说|认为|要求|建议|指出|写道)"
)


def chinese_order(sentence: str, after: str) -> tuple[str, int, bool] | None:
    """Whether the words before a subject's name order something; as `english_order` does."""
    for role, pattern, needed in _ORDERS:
        match = pattern.search(sentence)
        if match is None or not needed.match(after):
            continue
        begin = match.start() + len(match.group()) - len(match.group().lstrip(" ,.;:!?\n()"))
        return role, begin, _REPORT.search(sentence, 0, begin) is not None
    return None

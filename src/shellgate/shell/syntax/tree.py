"""The tree that tree-sitter makes of a piece of shell, and the parts of it that the reader relies on."""

from dataclasses import dataclass, field

import tree_sitter_bash
from tree_sitter import Language, Node, Parser

_LANGUAGE = Language(tree_sitter_bash.language())

DEPTH_LIMIT = 32

_COMPOUND = """
if_statement while_statement for_statement c_style_for_statement case_statement compound_statement subshell
function_definition
"""
_SIMPLE = "command declaration_command unset_command variable_assignment variable_assignments"
# What our own lexer and grammar read in full: bash has nothing to refuse in it that they do not.
_PLAIN = """
program command command_name word number string string_content raw_string ansi_c_string concatenation comment
variable_name simple_expansion special_variable_name expansion brace_expression
variable_assignment variable_assignments declaration_command unset_command
list pipeline negated_command redirected_statement file_redirect file_descriptor
herestring_redirect heredoc_redirect heredoc_start heredoc_body heredoc_content heredoc_end
command_substitution process_substitution test_command test_operator unary_expression binary_expression
if_statement elif_clause else_clause for_statement while_statement do_group subshell
"""
_OTHERS = """
translated_string arithmetic_expansion array subscript case_item extglob_pattern regex
parenthesized_expression postfix_expression ternary_expression
"""
COMPOUND = frozenset(_COMPOUND.split())
SIMPLE = frozenset(_SIMPLE.split())
_SUBSTITUTIONS = frozenset({"command_substitution", "process_substitution"})
_WITHOUT_COMMANDS = SIMPLE | {"test_command", "arithmetic_expansion", "expansion", "subscript"}
_NESTING = COMPOUND | _SUBSTITUTIONS
_PLAIN_KINDS = frozenset(_PLAIN.split())
_KNOWN_KINDS = _PLAIN_KINDS | COMPOUND | frozenset(_OTHERS.split())


@dataclass(slots=True)
class Tree:
    """The findings of tree-sitter, by the offsets of their beginnings."""

    substitutions: dict[int, int] = field(default_factory=dict)  # of each, where it ends
    compounds: dict[int, Node] = field(default_factory=dict)
    expressions: dict[int, int] = field(default_factory=dict)  # `[[` and `((`: where they end
    operators: dict[int, str] = field(default_factory=dict)
    simple: set[int] = field(default_factory=set)  # where a simple command starts
    doubts: list[str] = field(default_factory=list)
    is_plain: bool = True  # nothing but words, pipes and lists
    has_functions: bool = False
    depth: int = 0


def parse(source: bytes) -> Tree:
    """The tree of a text."""
    tree = Tree()
    pending: list[tuple[Node, int, bool]] = [(Parser(_LANGUAGE).parse(source).root_node, 0, False)]
    while pending:
        node, depth, in_simple = pending.pop()
        if node.is_error or node.is_missing:
            tree.doubts.append("it has an error of syntax, or a construct that could not be read")
        kind = node.type
        if not node.is_named:
            _note_leaf(tree, node, kind)
            continue
        if kind not in _PLAIN_KINDS:
            tree.is_plain = False
            if kind not in _KNOWN_KINDS and not node.is_error:
                tree.doubts.append(f"it has a construct that is not known here ({kind})")
        if _note(tree, node, kind, in_simple=in_simple, source=source):
            continue
        depth += kind in _NESTING
        tree.depth = max(tree.depth, depth)
        is_inside = kind in _WITHOUT_COMMANDS or (in_simple and kind not in _SUBSTITUTIONS)
        children = node.children
        if kind == "compound_statement" and children and children[0].type == "((":
            is_inside = True
        for child in children:
            is_header = kind == "c_style_for_statement" and child.type not in {
                "do_group",
                "compound_statement",
            }
            pending.append((child, depth, is_inside or is_header))
    return tree


def _note_leaf(tree: Tree, node: Node, kind: str) -> None:
    tree.operators[node.start_byte] = kind
    if kind in {"((", "[["}:
        tree.is_plain = False
        parent = node.parent
        whole = parent is not None and parent.type != "c_style_for_statement"
        tree.expressions[node.start_byte] = parent.end_byte if whole and parent else -1


def _note(tree: Tree, node: Node, kind: str, *, in_simple: bool, source: bytes) -> bool:
    """Keep what the reader needs of a node; True if its inside is not to be looked at."""
    start = node.start_byte
    if kind in _SUBSTITUTIONS:
        tree.substitutions[start] = node.end_byte
        return source[start : start + 1] == b"`"  # read again from its unescaped text
    if kind in SIMPLE or kind == "test_command":
        if not in_simple:
            tree.simple.add(start)
    elif kind in COMPOUND:
        tree.compounds[start] = node
        tree.has_functions = tree.has_functions or kind == "function_definition"
    elif kind == "redirected_statement" and not in_simple and node.child_by_field_name("body") is None:
        tree.simple.add(start)
    return False

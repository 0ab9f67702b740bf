"""Which rows of a tree are in sight."""

import numpy as np
import pytest

from tracetui.presentation.tree import Tree, indent


@pytest.fixture
def tree() -> Tree:
    """Two roots: 0 with child 1, which has 2 and 3; and 4."""
    return Tree.closed(np.array([0, 1, 2, 2, 0], np.int32), np.array([4, 4, 3, 4, 5], np.int32))


def test_closed_tree_shows_its_roots(tree: Tree) -> None:
    assert tree.rows().tolist() == [0, 4]


def test_an_open_node_below_a_closed_one_stays_out_of_sight(tree: Tree) -> None:
    tree.toggle(1)
    assert tree.rows().tolist() == [0, 4]
    tree.toggle(0)
    assert tree.rows().tolist() == [0, 1, 2, 3, 4]
    tree.toggle(1)
    assert tree.rows().tolist() == [0, 1, 4]


def test_open_to_branch_stops_where_there_is_a_choice(tree: Tree) -> None:
    assert tree.open_to_branch(0) == 1
    assert tree.rows().tolist() == [0, 1, 2, 3, 4]


def test_open_all_and_close_all(tree: Tree) -> None:
    tree.open_all()
    assert len(tree.rows()) == 5
    tree.close_all()
    assert len(tree.rows()) == 2


def test_hidden_nodes_take_their_subtree_along(tree: Tree) -> None:
    tree.open_all()
    tree.is_hidden[1] = True
    assert tree.rows().tolist() == [0, 4]
    assert not tree.has_children(0)


def test_reveal_opens_the_nodes_above_and_no_others(tree: Tree) -> None:
    tree.reveal(3)
    assert tree.is_open.tolist() == [True, True, False, False, False]


def test_parent_and_heaviest_child(tree: Tree) -> None:
    weight = np.array([9, 9, 3, 5, 1], np.int64)
    assert (tree.parent(3), tree.parent(1), tree.parent(4)) == (1, 0, -1)
    assert tree.heaviest_child(1, weight) == 3
    assert tree.heaviest_child(4, weight) == -1


def test_a_tree_of_a_thousand_levels_opens_to_its_end() -> None:
    n = 1000
    deep = Tree.closed(np.arange(n, dtype=np.int32), np.full(n, n, np.int32))
    assert deep.open_to_branch(0) == n - 1
    assert len(deep.rows()) == n


def test_an_empty_tree_has_no_rows() -> None:
    assert len(Tree.closed(np.empty(0, np.int32), np.empty(0, np.int32)).rows()) == 0


def test_deep_rows_show_their_depth_as_a_number() -> None:
    assert indent(2, 10) == "    "
    assert indent(900, 10) == "     900› "

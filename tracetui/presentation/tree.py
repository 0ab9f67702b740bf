"""A tree in preorder as the rows that are open."""

from dataclasses import dataclass

import numpy as np

from tracetui.model.arrays import NO_ID, Bools, Int32s, Int64s


@dataclass(slots=True, eq=False)
class Tree:
    """Which nodes of a preorder tree are open, and therefore which rows are on the screen."""

    depth: Int32s
    subtree_end: Int32s
    """One past the last node below each node."""
    is_open: Bools
    is_hidden: Bools
    """Nodes left out together with all below them."""

    @classmethod
    def closed(cls, depth: Int32s, subtree_end: Int32s) -> "Tree":
        """Return the tree with its roots alone in sight."""
        n = len(depth)
        return cls(depth, subtree_end, np.zeros(n, bool), np.zeros(n, bool))

    def rows(self) -> Int64s:
        """Return the nodes in sight, in order: no node above them is closed or hidden."""
        n = len(self.depth)
        nodes = np.arange(n)
        covers = np.zeros(n + 1, np.int64)
        for first, chosen in ((nodes + 1, ~self.is_open), (nodes, self.is_hidden)):
            np.add.at(covers, first[chosen], 1)
            np.add.at(covers, self.subtree_end[chosen], -1)
        return np.flatnonzero(np.cumsum(covers[:-1]) == 0)

    def has_children(self, node: int) -> bool:
        """Return whether anything that is not hidden lies below a node."""
        return len(self.children(node)) > 0

    def children(self, node: int) -> Int64s:
        """Return the nodes directly below a node that are not hidden."""
        below: Int64s = np.arange(node + 1, int(self.subtree_end[node]))
        is_child = (self.depth[below] == self.depth[node] + 1) & ~self.is_hidden[below]
        found: Int64s = below[is_child]
        return found

    def parent(self, node: int) -> int:
        """Return the node directly above, or ``NO_ID`` for a root."""
        above = np.flatnonzero(self.depth[:node] < self.depth[node])
        return int(above[-1]) if len(above) else NO_ID

    def toggle(self, node: int) -> None:
        """Open a closed node, close an open one."""
        self.is_open[node] = not self.is_open[node]

    def open_to_branch(self, node: int) -> int:
        """Open a node and, while it has one child alone, that child; return the last opened."""
        self.is_open[node] = True
        children = self.children(node)
        while len(children) == 1:
            node = int(children[0])
            self.is_open[node] = True
            children = self.children(node)
        return node

    def open_all(self) -> None:
        """Open every node."""
        self.is_open[:] = True

    def close_all(self) -> None:
        """Close every node."""
        self.is_open[:] = False

    def reveal(self, node: int) -> None:
        """Open all nodes above a node."""
        above = self.depth[:node]
        # Walking back, an ancestor is each node shallower than all nodes between it and this one.
        behind = np.minimum.accumulate(np.append(above, self.depth[node])[::-1])[::-1][1:]
        self.is_open[np.flatnonzero(above < behind)] = True

    def heaviest_child(self, node: int, weight: Int64s) -> int:
        """Return the child of most weight, the first of equals, or ``NO_ID`` for a leaf."""
        children = self.children(node)
        return int(children[np.argmax(weight[children])]) if len(children) else NO_ID


def indent(depth: int, width: int) -> str:
    """Return a row's indent, or its depth as a number where the indent would take ``width``."""
    spaces = 2 * depth
    return " " * spaces if spaces <= width else f"{depth}› ".rjust(width)

"""Maximum bipartite matching (Kuhn's augmenting paths)."""


def matched(edges: list[list[int]], right_count: int) -> int:
    """Returns how many on the left can be matched. `edges[i]` are the candidates on the right for `i`."""
    partner_of = [-1] * right_count
    return sum(_placed(left, edges, partner_of, set()) for left in range(len(edges)))


def _placed(start: int, edges: list[list[int]], partner_of: list[int], tried: set[int]) -> bool:
    """Keeps its own stack: an augmenting path may be as long as the list."""
    stack = [(start, iter(edges[start]))]
    taken: list[int] = []
    while stack:
        _, rights = stack[-1]
        right = next((candidate for candidate in rights if candidate not in tried), None)
        if right is None:
            stack.pop()
            if taken:
                taken.pop()
            continue
        tried.add(right)
        taken.append(right)
        if partner_of[right] < 0:
            for (left, _), right in zip(stack, taken, strict=True):
                partner_of[right] = left
            return True
        stack.append((partner_of[right], iter(edges[partner_of[right]])))
    return False

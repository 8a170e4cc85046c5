"""Slow, clear oracles: what every fast number is held against.

Three definitions of the same game, each readable beside the paper: `brute` is the sum over all coalitions in
float64, `exact` the sum over leaves of path products in fractions, `walk` the recursion that the native core
runs, over any kind of number. They share `paths`, which turns a Forest and one encoded row into plain lists,
and never touch the native walk.

Beside them stand the algorithms of the paper as it prints them, one a file: `treegrad` and the others are
what one `traverse` carries over the `edges` of a tree; `rivals` names those that compute the Shapley value.
They show how each of them does, and are no oracles. Only tests, benchmarks and docs import this package.
"""

"""Slow, clear oracles: what every fast number is held against.

Three definitions of the same game, each readable beside the paper: `brute` is the sum over all coalitions in
float64, `exact` the sum over leaves of path products in fractions, `walk` the recursion that the native core
runs, over any kind of number. They share `paths`, which turns a Forest and one encoded row into plain lists,
and never touch the native walk. Only tests, benchmarks and docs import this package.
"""

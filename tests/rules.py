"""How wrong a quadrature rule is, measured by what it does to attributions.

A gradient along the diagonal is a polynomial sum_k g_k C(d, k) t^k (1-t)^(d-k) whose g_k, means of marginal
contributions, are bounded by the tree's range. So the sum over k of |rule - exact| on those basis polynomials
bounds the error of any value.
"""

from __future__ import annotations

import mpmath

from leafgrad import gauss


def basis_error(rule: gauss.Rule, alpha: float, beta: float, degree: int) -> float:
    """Sum over k of |rule - exact| on C(d, k) t^k (1-t)^(d-k), in 50-digit arithmetic."""
    with mpmath.workdps(50):
        a, b = mpmath.mpf(alpha), mpmath.mpf(beta)
        found = [mpmath.mpf(0)] * (degree + 1)
        for t, w in zip(*(part.tolist() for part in rule), strict=True):
            known, term = mpmath.mpf(t), mpmath.mpf(w)
            if t == 1.0:
                found[degree] += term
                continue
            term *= (1 - known) ** degree
            for k in range(degree + 1):
                found[k] += term
                term *= known / (1 - known) * (degree - k) / (k + 1)
        exact = mpmath.fprod((a + i) / (a + b + i) for i in range(degree))
        total = mpmath.mpf(0)
        for k in range(degree + 1):
            total += abs(found[k] - exact)
            if k < degree:
                exact *= mpmath.mpf(degree - k) / (k + 1) * (b + k) / (a + (degree - k - 1))
        return float(total)

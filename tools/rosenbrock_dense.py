#!/usr/bin/env python3
"""Derives the dense output coefficients of the Rosenbrock methods in src/method/rosenbrock/rosenbrock.c.

k_i = h y' + h^2 beta_i y'' + h^3 (alpha_i^2 f''(f,f) / 2 + (beta beta)_i f'f'f) + ...   at the start of the step

end:    one more stage at y_new with weights g_j on k_j and gamma on itself, so that J is multiplied by
        sum g_j k_j + gamma k = O(h^4): sum g_j = sum g_j beta_j = sum g_j alpha_j^2 = -gamma. Printed is
        e = g Gamma^-1 / gamma, for the transformed stages l = Gamma k.
start:  h y' = sum w_j k_j + w k + O(h^4) with that further stage k = h y'(t + h): sum w_j + w = 1,
        sum w_j beta_j + w = 0, sum w_j alpha_j^2 + w = 0, sum w_j (beta beta)_j + w/2 = 0. Printed is w_j Gamma^-1, w.

Solutions of least norm are taken; with two stages the last conditions are left out (two for end, three for start)."""
from decimal import Decimal, getcontext
from fractions import Fraction as F

getcontext().prec = 40

RN4 = {
    "gamma": "0.57281606",
    "alpha": [[], ["1.14563212"],
              ["0.52092078913062902932851734563144", "0.13429418684250480014923082102398"],
              ["0.52092078913062902932851734563144", "0.13429418684250480014923082102398"]],
    "Gamma": [[], ["-2.3419931271120139491705469975580"],
              ["-0.027333746543489836196492346276089", "0.21381165083669968986746107607098"],
              ["-0.25908383778551022211263532804535", "-0.19059580773231175161635708663483",
               "-0.22803103597313382947774816665543"]],
}
W2 = {
    "gamma": "1.7071067811865475244008443621048",
    "alpha": [[], ["1"]],
    "Gamma": [[], ["-3.4142135623730950488016887242096"]],
}


def least_norm(rows, rhs):
    """The x of least norm with rows x = rhs."""
    m = len(rows)
    table = [[sum(a * b for a, b in zip(r, q)) for q in rows] + [rhs[i]] for i, r in enumerate(rows)]
    for i in range(m):
        best = max(range(i, m), key=lambda k: abs(table[k][i]))
        table[i], table[best] = table[best], table[i]
        for k in range(m):
            if k != i:
                f = table[k][i] / table[i][i]
                table[k] = [x - f * y for x, y in zip(table[k], table[i])]
    factor = [table[i][m] / table[i][i] for i in range(m)]
    return [sum(factor[i] * rows[i][j] for i in range(m)) for j in range(len(rows[0]))]


def times_inverse(x, lower):
    """x lower^-1 for a lower triangular matrix."""
    z = [F(0)] * len(x)
    for j in reversed(range(len(x))):
        z[j] = (x[j] - sum(z[k] * lower[k][j] for k in range(j + 1, len(x)))) / lower[j][j]
    return z


def show(name, values):
    print(name, ", ".join(f"{Decimal(v.numerator) / Decimal(v.denominator):.30f}" for v in values))


def derive(name, method, conditions):
    s, gamma = len(method["alpha"]), F(method["gamma"])
    alpha = [[F(x) for x in row] + [F(0)] * (s - len(row)) for row in method["alpha"]]
    lower = [[F(x) for x in row] + [gamma] + [F(0)] * (s - 1 - len(row)) for row in method["Gamma"]]
    beta = [sum(alpha[i]) + sum(lower[i]) for i in range(s)]
    deep = [sum((alpha[i][j] + lower[i][j]) * beta[j] for j in range(s)) for i in range(s)]
    rows = [[F(1)] * s, beta, [sum(row) ** 2 for row in alpha], deep]
    print(name)
    show("  end", [x / gamma for x in times_inverse(least_norm(rows[:conditions], [-gamma] * conditions), lower)])
    further = [row + [w] for row, w in zip(rows, [F(1), F(1), F(1), F(1, 2)])][:conditions + 1]
    w = least_norm(further, [F(1)] + [F(0)] * conditions)
    show("  start", times_inverse(w[:s], lower) + [w[s]])


derive("rosnys4", RN4, 3)
derive("wnys2", W2, 2)

"""Networks that are attacked with their weights, and the slow reference: dense matrices, loops."""

import copy

import numpy as np
import torch
from torch import nn

from membership import models

RECIPE = {"learning_rate": 0.01, "momentum": 0.9, "weight_decay": 5e-4}
TERMS = ("score", "loss", "i1", "i2", "i3", "i4")
KNOWLEDGE = ("leave-one-out", "everyone", "everyone-less-own")


def cross_entropy(output, y):
    return nn.functional.cross_entropy(output, y, reduction="none")


def problem(seed=0, n=40, extra=20, hidden=(15,), steps=60):
    """A partly trained network of 243 parameters, its training records and a queried set."""
    torch.manual_seed(seed)
    model = models.mlp(12, hidden, 3)
    x, y = torch.randn(n + extra, 12), torch.randint(0, 3, (n + extra,))
    optimiser = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
    for _ in range(steps):
        optimiser.zero_grad()
        cross_entropy(model(x[:n]), y[:n]).mean().backward()
        optimiser.step()
    member = np.arange(10, n + extra) < n
    return model, (x[:n], y[:n]), (x[10:], y[10:]), member


class Seen:
    """What an adversary sees of a network, by nothing of the package."""

    def __init__(self, model, train, query):
        model = copy.deepcopy(model).double()
        names = [name for name, _ in model.named_parameters()]
        shapes = [p.shape for p in model.parameters()]
        w = torch.nn.utils.parameters_to_vector(model.parameters()).detach()

        def losses(vector, x, y):
            parts = vector.split([shape.numel() for shape in shapes])
            values = {k: v.view(s) for k, v, s in zip(names, parts, shapes, strict=True)}
            return cross_entropy(torch.func.functional_call(model, values, (x.double(),)), y)

        def mean_loss(vector):
            return losses(vector, *train).mean()

        def own(x, y):
            return torch.func.grad(lambda v: losses(v, x[None], y[None]).sum())(w).numpy()

        self.n, self.weight = len(train[0]), w.numpy()
        self.hessian = torch.func.hessian(mean_loss)(w).numpy()
        self.mean = torch.func.grad(mean_loss)(w).numpy()
        self.loss = losses(w, *query).detach().numpy()
        self.own = [own(x, y) for x, y in zip(*query, strict=True)]

    def pairs(self, member, knowledge, convention, decay=0.0):
        """Each record's gradient, and that over the others, with so much weight decay."""
        for g, inside in zip(self.own, member, strict=True):
            others, n = self.mean, self.n
            if knowledge == "everyone-less-own" or (knowledge == "leave-one-out" and inside):
                others = (n * others - g) / (n - 1) if convention == "authors" else others - g / n
            yield g, others + decay * self.weight

    def iha(self, member, weight_decay, conditioned, stationarity, knowledge, convention):
        """The terms of IHA, and the scores of SIF, record by record."""
        lam, mu, alpha = RECIPE["learning_rate"], RECIPE["momentum"], weight_decay
        decay = alpha if stationarity == "regularised" else 0.0
        outer = conditioned(self.hessian)
        inner = conditioned(self.hessian + decay * np.eye(len(self.weight)))
        s2 = 2 - lam * alpha / (1 + mu)
        s1 = s2 / 2 if stationarity == "regularised" else s2 - 1
        rows = []
        pairs = self.pairs(member, knowledge, convention, decay)
        for value, (g, g0) in zip(self.loss, pairs, strict=True):
            u, u0 = inner @ g, inner @ g0
            i1, i2 = s1 / self.n * u @ u, 2 * s1 * u0 @ u
            i3, i4 = alpha * s2 / (2 * self.n) * u @ outer @ u, alpha * s2 * u0 @ outer @ u
            rows.append([value / (1 + mu) - (i1 + i2 + i3 + i4) / lam, value, i1, i2, i3, i4])
        return dict(zip(TERMS, np.array(rows).T, strict=True)), [-g @ outer @ g for g in self.own]

// All steps of one pair of distributions, in closed form at full batch and numerically elsewhere:
// membership.privacy.composed in JavaScript.
"use strict";

const composed = {
  sure: 1 - 1e-7,
  smallDelta: 1e-7,

  // Rates of which a level is read.
  read: (() => {
    const half = Array.from({ length: 60 }, (_, i) => 10 ** (i / 20 - 3));
    return [...half, ...half.map((rate) => 1 - rate), 0.001, 0.01, 0.1].sort((a, b) => a - b);
  })(),

  size(steps) {
    let grid = 16;
    while (grid < 22 && steps > 1e4 * 4 ** (grid - 16)) grid += 1;
    return 2 ** grid;
  },

  compose(pair, steps) {
    if (pair.p === 1 || pair.mu === Infinity)
      return { pair, steps, level: Math.sqrt(steps) * pair.mu * (pair.kind === "exchanged" ? 2 : 1), losses: null };
    if (pair.mu > gmip.largestStep) return { pair, steps, level: Infinity, losses: null };
    const found = losses.compose(pair, steps, composed.size(steps));
    const told = found.spacing > losses.widest;
    return { pair, steps, level: told ? Infinity : null, losses: told ? null : found };
  },

  isCutOff: ({ level, pair }) => level === Infinity && pair.mu < Infinity,

  tpr(one, rates) {
    if (one.losses) return losses.tpr(one.losses, rates);
    return rates.map((rate) => (rate <= 0 ? 0 : composed.gaussianTpr(rate, one.level)));
  },

  gaussianTpr: (rate, mu) => (rate >= 1 ? 1 : game.upperTail(game.thresholdAt(rate) - mu)),

  epsilon(one, delta) {
    if (!one.losses) return one.level === Infinity ? Infinity : composed.gaussianEpsilon(one.level, delta);
    const small = delta < composed.smallDelta;
    const found = small ? losses.compose(one.pair, one.steps, composed.size(one.steps), delta) : one.losses;
    return losses.epsilon(found, delta, gmip.largestEpsilon);
  },

  // The least epsilon at a delta of two normal distributions mu apart.
  gaussianEpsilon(mu, delta) {
    // exp(x^2 / 2) P(Z > x) sqrt(2 pi), by its series where the tail is past counting.
    const mills = (x) =>
      x < 30
        ? game.upperTail(x) * Math.exp((x * x) / 2)
        : (1 - 1 / (x * x) + 3 / x ** 4 - 15 / x ** 6) / (x * Math.sqrt(2 * Math.PI));
    const excess = (epsilon) => {
      const near = epsilon / mu - mu / 2;
      return game.upperTail(near) - Math.exp((-near * near) / 2) * mills(near + mu) - delta;
    };
    if (mu === 0 || excess(0) <= 0) return 0;
    let [low, high] = [0, 1];
    while (excess(high) > 0) [low, high] = [high, 2 * high];
    for (let i = 0; i < 60; i += 1) {
      const middle = (low + high) / 2;
      if (excess(middle) > 0) low = middle;
      else high = middle;
    }
    return high;
  },

  // The least mu whose Gaussian curve lies below the steps' own; the limit where they are past it.
  mu(one, limit) {
    if (!one.losses) return one.level;
    const tpr = composed.tpr(one, composed.read);
    const shown = Math.max(0, ...tpr.map((rate, i) => composed.score(Math.min(rate, composed.sure)) - composed.score(composed.read[i])));
    return tpr[0] > composed.sure ? Math.max(shown, limit) : shown;
  },

  score: (rate) => -game.thresholdAt(rate),
};

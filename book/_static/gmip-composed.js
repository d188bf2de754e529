// All steps of a run, in closed form at full batch and numerically elsewhere:
// membership.privacy.composed in JavaScript.
"use strict";

const composed = {
  sure: 1 - 1e-7,
  smallDelta: 1e-8,
  leastDelta: 1e-100,

  // Rates of which a level is read.
  read: (() => {
    const half = Array.from({ length: 60 }, (_, i) => 10 ** (i / 20 - 3));
    return [...half, ...half.map((rate) => 1 - rate), 0.001, 0.01, 0.1].sort((a, b) => a - b);
  })(),

  size(parts) {
    const steps = parts.reduce((sum, part) => sum + part.steps, 0);
    let grid = 16;
    while (grid < 22 && steps > 1e4 * 4 ** (grid - 16)) grid += 1;
    return 2 ** grid;
  },

  // As many steps of each pair; equal ones count as one phase.
  compose(phases) {
    const counts = new Map();
    for (const { pair, steps } of phases) {
      const key = JSON.stringify([pair.kind, pair.mu, pair.p]);
      counts.set(key, { pair, steps: steps + (counts.get(key)?.steps ?? 0) });
    }
    const parts = [...counts.values()];
    const apart = ({ pair, steps }) => Math.sqrt(steps) * (pair.group ?? 1) * pair.mu * (pair.kind === "exchanged" ? 2 : 1);
    if (parts.every(({ pair }) => pair.p === 1) || parts.some(({ pair }) => pair.mu === Infinity))
      return { parts, level: Math.hypot(...parts.map(apart)), losses: null };
    if (parts.some(({ pair }) => pair.mu > gmip.largestStep)) return { parts, level: Infinity, losses: null };
    const found = losses.compose(parts, composed.size(parts));
    const told = found.spacing > losses.widest;
    return { parts, level: told ? Infinity : null, losses: told ? null : found };
  },

  isCutOff: ({ level, parts }) => level === Infinity && parts.every(({ pair }) => pair.mu < Infinity),

  tpr(one, rates) {
    if (one.losses) return losses.tpr(one.losses, rates);
    return rates.map((rate) => (rate <= 0 ? 0 : composed.gaussianTpr(rate, one.level)));
  },

  gaussianTpr: (rate, mu) => (rate >= 1 ? 1 : game.upperTail(game.thresholdAt(rate) - mu)),

  // Losses that keep the digits of so small a probability.
  at: (one, tail) => (tail >= composed.smallDelta ? one.losses : losses.compose(one.parts, composed.size(one.parts), tail)),

  epsilon(one, delta) {
    if (!one.losses) return one.level === Infinity ? Infinity : composed.gaussianEpsilon(one.level, delta);
    return losses.epsilon(composed.at(one, delta), delta, gmip.largestEpsilon);
  },

  delta(one, epsilon) {
    if (!one.losses) return one.level === Infinity ? 1 : composed.gaussianDelta(one.level, epsilon);
    const found = losses.delta(one.losses, epsilon);
    if (found >= composed.smallDelta) return found;
    let tail = Math.max(losses.tailOf(one.parts, epsilon), composed.leastDelta);
    tail = Math.max(losses.delta(composed.at(one, tail), epsilon), composed.leastDelta);
    return Math.min(found, losses.delta(composed.at(one, tail), epsilon));
  },

  auc: (one) => (one.losses ? losses.auc(one.losses) : game.upperTail(-one.level / Math.SQRT2)),

  // exp(x^2 / 2) P(Z > x), by its series where the tail is past counting.
  mills: (x) =>
    x < 30
      ? game.upperTail(x) * Math.exp((x * x) / 2)
      : (1 - 1 / (x * x) + 3 / x ** 4 - 15 / x ** 6) / (x * Math.sqrt(2 * Math.PI)),

  // The delta at an epsilon of two normal distributions mu apart.
  gaussianDelta(mu, epsilon) {
    if (mu === 0) return 0;
    const near = epsilon / mu - mu / 2;
    const scaled = Math.exp((-near * near) / 2);
    if (near > 0) return scaled * (composed.mills(near) - composed.mills(near + mu));
    return game.upperTail(near) - scaled * composed.mills(near + mu);
  },

  gaussianEpsilon(mu, delta) {
    const excess = (epsilon) => composed.gaussianDelta(mu, epsilon) - delta;
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

  // Of two normal distributions that have this delta at this epsilon, how far they lie apart.
  gaussianMu(epsilon, delta) {
    let [low, high] = [0, 1];
    while (high < 1e3 && composed.gaussianDelta(high, epsilon) < delta) [low, high] = [high, 2 * high];
    for (let i = 0; i < 60; i += 1) {
      const middle = (low + high) / 2;
      if (composed.gaussianDelta(middle, epsilon) < delta) low = middle;
      else high = middle;
    }
    return low;
  },

  // The least mu whose Gaussian curve lies below the steps' own; the limit where they are past it.
  mu(one, limit) {
    if (!one.losses) return one.level;
    const tpr = composed.tpr(one, composed.read);
    const shown = Math.max(0, ...tpr.map((rate, i) => composed.score(Math.min(rate, composed.sure)) - composed.score(composed.read[i])));
    return tpr[0] > composed.sure ? Math.max(shown, limit) : shown;
  },

  score: (rate) => -game.thresholdAt(rate),

  // The TPR of the best attack on records whose steps differ, at some rates: membership.privacy.mixtures.
  mixture(records, rates) {
    if (records.some((parts) => parts.some(({ pair }) => pair.mu > gmip.largestStep))) return rates.map(() => 1);
    const all = records.map((parts) => losses.compose(parts, 2 ** 12));
    const value = ({ first, spacing }, i) => (first + i) * spacing;
    const thresholds = Float64Array.from(
      [...new Set(all.flatMap((one) => Array.from({ length: one.mass.length / 8 }, (_, i) => value(one, 8 * i))))],
    ).sort();
    const [fpr, power] = [new Float64Array(thresholds.length), new Float64Array(thresholds.length)];
    for (const one of all) {
      // From the highest threshold down: what lies at and above it.
      let [null_, own, i] = [0, 0, one.mass.length - 1];
      for (let t = thresholds.length - 1; t >= 0; t -= 1) {
        for (; i >= 0 && value(one, i) >= thresholds[t]; i -= 1) {
          null_ += one.mass[i] * Math.exp(-Math.max(value(one, i), -700));
          own += one.mass[i];
        }
        fpr[t] += null_;
        power[t] += one.infinite + own;
      }
    }
    const points = [[0, 0], ...Array.from(thresholds, (_, t) => [Math.min(fpr[t] / all.length, 1), Math.min(power[t] / all.length, 1)]).reverse(), [1, 1]];
    return rates.map((rate) => {
      const next = points.findIndex(([x]) => x > rate);
      if (next < 0) return 1;
      const [[x0, y0], [x1, y1]] = [points[next - 1], points[next]];
      return y0 + ((rate - x0) / (x1 - x0)) * (y1 - y0);
    });
  },
};

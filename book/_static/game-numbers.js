// The membership game between two normal distributions, in closed form. Non-members' scores are
// N(0, 1), members' are N(mu, sigma^2), and a record is called a member when its score is above t.
"use strict";

const game = {
  // Upper tail of the standard normal, P(Z > x), with a small relative error far out in the tail.
  upperTail(x) {
    const z = Math.abs(x) / Math.SQRT2;
    const scale = Math.exp(-z * z) / Math.sqrt(Math.PI);
    let tail;
    if (z < 2.5) {
      // erf(z) = 2 exp(-z^2) / sqrt(pi) * sum of 2^k z^(2k+1) / (2k+1)!!
      let term = z;
      let sum = z;
      for (let k = 1; k < 80; k += 1) {
        term *= (2 * z * z) / (2 * k + 1);
        sum += term;
      }
      tail = 0.5 - scale * sum;
    } else {
      // erfc(z) as a continued fraction, from the inside out.
      let denominator = z;
      for (let k = 80; k > 0; k -= 1) denominator = z + k / 2 / denominator;
      tail = (0.5 * scale) / denominator;
    }
    return x < 0 ? 1 - tail : tail;
  },

  // The threshold whose FPR is alpha: bisection, since the tail falls steadily.
  thresholdAt(alpha) {
    let low = -10;
    let high = 40;
    for (let i = 0; i < 80; i += 1) {
      const middle = (low + high) / 2;
      if (game.upperTail(middle) > alpha) low = middle;
      else high = middle;
    }
    return (low + high) / 2;
  },

  density(x, mu, sigma) {
    const z = (x - mu) / sigma;
    return Math.exp((-z * z) / 2) / (sigma * Math.sqrt(2 * Math.PI));
  },

  tpr(t, mu, sigma) {
    return game.upperTail((t - mu) / sigma);
  },

  numbers({ t, mu, sigma }) {
    const fpr = game.upperTail(t);
    const tpr = game.tpr(t, mu, sigma);
    return {
      fpr,
      tpr,
      accuracy: (tpr + 1 - fpr) / 2,
      auc: game.upperTail(-mu / Math.sqrt(1 + sigma * sigma)),
      tprAt1: game.tpr(game.thresholdAt(0.01), mu, sigma),
      tprAt01: game.tpr(game.thresholdAt(0.001), mu, sigma),
    };
  },
};

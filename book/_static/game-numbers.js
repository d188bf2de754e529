// The membership game between two normal distributions, in closed form. Non-members' scores are
// N(0, 1), members' are N(mu, sigma^2), and a record is called a member when its score is above t.
"use strict";

const game = {
  // Upper tail of the standard normal, P(Z > x), to rounding: half of erfc(x / sqrt 2), by W. J.
  // Cody's rational approximations (1969).
  upperTail(x) {
    const z = Math.abs(x) / Math.SQRT2;
    if (z > 27) return x < 0 ? 1 : 0;
    if (z <= 0.46875) {
      const erf = z * game.ratio(z * z, game.cody[0]);
      return 0.5 - (x < 0 ? -erf : erf) / 2;
    }
    const scale = Math.exp(-z * z) / 2;
    const far = 1 / (z * z);
    const tail =
      z <= 4
        ? scale * game.ratio(z, game.cody[1])
        : (scale * (1 / Math.sqrt(Math.PI) - far * game.ratio(far, game.cody[2]))) / z;
    return x < 0 ? 1 - tail : tail;
  },

  ratio(at, [above, below]) {
    let numerator = above[0];
    let denominator = below[0];
    for (let i = 1; i < above.length; i += 1) {
      numerator = numerator * at + above[i];
      denominator = denominator * at + below[i];
    }
    return numerator / denominator;
  },

  // Numerator and denominator, the highest power first: erf(z) / z in z^2; erfc(z) exp(z^2) in z;
  // and what is left of 1 / sqrt(pi) further out, in 1 / z^2.
  cody: [
    [
      [1.85777706184603153e-1, 3.16112374387056560, 1.13864154151050156e2, 3.77485237685302021e2, 3.20937758913846947e3],
      [1, 2.36012909523441209e1, 2.44024637934444173e2, 1.28261652607737228e3, 2.84423683343917062e3],
    ],
    [
      [2.15311535474403846e-8, 5.64188496988670089e-1, 8.88314979438837594, 6.61191906371416295e1, 2.98635138197400131e2, 8.81952221241769090e2, 1.71204761263407058e3, 2.05107837782607147e3, 1.23033935479799725e3],
      [1, 1.57449261107098347e1, 1.17693950891312499e2, 5.37181101862009858e2, 1.62138957456669019e3, 3.29079923573345963e3, 4.36261909014324716e3, 3.43936767414372164e3, 1.23033935480374942e3],
    ],
    [
      [1.63153871373020978e-2, 3.05326634961232344e-1, 3.60344899949804439e-1, 1.25781726111229246e-1, 1.60837851487422766e-2, 6.58749161529837803e-4],
      [1, 2.56852019228982242, 1.87295284992346725, 5.27905102951428412e-1, 6.05183413124413191e-2, 2.33520497626869185e-3],
    ],
  ],

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

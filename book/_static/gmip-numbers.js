// What a training run promises, from its sizes alone: membership.privacy.assess in JavaScript.
// Needs game-numbers.js, for the normal distribution.
"use strict";

const gmip = {
  rates: [0.001, 0.01, 0.1],

  // What is wrong with the sizes, in a sentence; empty where nothing is.
  problem({ n, records, epochs, d, k, clip, tau }) {
    if (!(n >= 2)) return "Give a batch size n of 2 or more.";
    if (!(records >= n)) return `Give a number of records N of at least the batch size, ${n}.`;
    if (!(epochs > 0)) return "Give a number of epochs above 0.";
    if (!(d >= 1)) return "Give a dimension d of 1 or more.";
    if (k !== null && !(k > 0)) return "Give a susceptibility K above 0, or leave it empty for K = d.";
    if (!(tau >= 0)) return "Give a noise τ of 0 or more.";
    if (clip !== null && !(clip > 0)) return "Give a clipping norm C above 0.";
    if (tau > 0 && clip === null) return "With noise, give the clipping norm C.";
    return [n, records, epochs, d, k ?? 1, clip ?? 1, tau].every(Number.isFinite)
      ? ""
      : "Give finite numbers.";
  },

  // Corollary 5.1.
  mipStep(d, effective, k) {
    return (d + (2 * effective - 1) * k) / (effective * Math.sqrt(2 * d + 4 * effective * k));
  },

  // Equation 10, or with `fixed` its limit for one null hypothesis.
  allSteps(mu, n, records, steps, fixed = false) {
    const rate = (n * Math.sqrt(steps)) / records;
    const square = Math.expm1(mu * mu);
    if (fixed || square === Infinity) return rate * Math.sqrt(square);
    const erf = (x) => 1 - 2 * game.upperTail(x * Math.SQRT2);
    const u = mu / Math.sqrt(8);
    const excess = square * game.upperTail(-1.5 * mu) + 0.5 * erf(3 * u) - 1.5 * erf(u);
    return rate * Math.sqrt(2 * Math.max(excess, 0));
  },

  assess({ n, records, epochs, d, k, clip, tau }) {
    const steps = Math.ceil((records * epochs) / n);
    const effective = tau > 0 ? n + ((tau * n) / clip) ** 2 : n;
    const mipStep = gmip.mipStep(d, effective, k ?? d);
    const gdpStep = tau > 0 ? (2 * clip) / (n * tau) : Infinity;
    const byTheorem = gmip.allSteps(mipStep, n, records, steps);
    const gdp = gmip.allSteps(gdpStep, n, records, steps);
    const oneSided = gmip.allSteps(Math.min(mipStep, gdpStep), n, records, steps, true);
    return { steps, effective, mipStep, gdpStep, byTheorem, gdp, mip: Math.min(byTheorem, gdp), oneSided };
  },

  // The best attack's TPR at an FPR.
  tpr(rate, mu) {
    return mu === Infinity ? 1 : game.upperTail(game.thresholdAt(rate) - mu);
  },

  numbers(sizes) {
    const found = gmip.assess(sizes);
    const rates = gmip.rates.flatMap((rate, i) => [
      [`mipTpr${i}`, gmip.tpr(rate, found.mip)],
      [`gdpTpr${i}`, gmip.tpr(rate, found.gdp)],
    ]);
    return { ...found, ...Object.fromEntries(rates) };
  },
};

// What a training run promises, from its sizes and its noise: membership.privacy in JavaScript.
// Needs game-numbers.js, for the normal distribution, gmip-losses.js and gmip-composed.js. Names are
// those of the Python modules numerical, composed and assessment, where every step is explained.
"use strict";

const gmip = {
  rates: [0.001, 0.01, 0.1],
  largestStep: 15,
  largestEpsilon: 600,
  leastSigma: 1e-3,
  mostSigma: 1e6,

  // What is wrong with the sizes, in a sentence; empty where nothing is.
  problem({ n, records, epochs, d, k, clip, delta, sampling, adjacency, start, value, fpr }) {
    const number = (x, least, most) => x >= least && x <= most;
    if (!number(n, 1e-15, 1e15)) return "Give a batch size n above 0.";
    if (sampling !== "poisson" && n < 1) return `Give a batch size n of 1 or more for ${sampling} batches.`;
    if (d !== null && n < 2) return "For membership inference give a batch size n of 2 or more, or leave d empty.";
    if (!number(records, n, 1e15)) return `Give a number of records N of at least the batch size, ${n}.`;
    if (!(epochs > 0 && epochs <= 1e9)) return "Give a number of epochs above 0.";
    if (Math.ceil((records * epochs) / n) > 1e9) return "Give at most 1e9 steps.";
    if (adjacency === "add-remove" && sampling !== "poisson")
      return `No accountant exists for ${sampling} batches when a record is added or removed: choose “replaced”, or Poisson sampling.`;
    if (!number(delta, 1e-100, 1 - 1e-16)) return "Give a delta of 1e-100 or more and below 1.";
    if (!number(clip, 1e-15, 1e15)) return "Give a clipping norm C above 0.";
    if (d !== null && !number(d, 1, 1e15)) return "Give a dimension d of 1 or more, or leave it empty.";
    if (k !== null && !(k > 0 && k <= 1e15)) return "Give a susceptibility K above 0, or leave it empty for K = d.";
    const [target, protect] = start.split("-");
    if (target === "sigma" || target === "tau") {
      const sigma = target === "tau" ? (value * n) / clip : value;
      return sigma === 0 || number(sigma, gmip.leastSigma, gmip.mostSigma)
        ? ""
        : "Give a noise of 0, or a noise multiplier of 0.001 to 1e6.";
    }
    if (protect === "membership" && d === null) return "For membership inference give the dimension d.";
    if (target === "tpr") return value > fpr && value < 1 ? "" : "Give a true positive rate above the false positive rate and below 100 %.";
    return value > 0 && value <= 100 ? "" : "Give a target above 0, at most 100.";
  },

  schedule({ n, records, epochs, sampling, adjacency }) {
    const steps = Math.ceil((records * epochs) / n);
    const shuffled = sampling === "shuffled";
    const composed = shuffled ? Math.ceil(epochs) : steps;
    const reach = sampling === "poisson" ? 1 : 2;
    return { n, records, steps, composed, p: shuffled ? 1 : n / records, sampling, adjacency, reach };
  },

  // mu of all steps, in the limit of many, where each has the level mu.
  limitAt(run, mu, order) {
    if (run.p === 1) return Math.sqrt(run.composed) * mu;
    const rate = (run.n * Math.sqrt(run.composed)) / run.records;
    const square = Math.expm1(mu * mu);
    if (order === "fixed" || square === Infinity) return rate * Math.sqrt(square);
    const erf = (x) => 1 - 2 * game.upperTail(x * Math.SQRT2);
    const u = mu / Math.sqrt(8);
    const excess = square * game.upperTail(-1.5 * mu) + 0.5 * erf(3 * u) - 1.5 * erf(u);
    return rate * Math.sqrt(2 * Math.max(excess, 0));
  },

  // mu of one step whose batch holds the record.
  step: (run, sigma) => (run.adjacency === "add-remove" ? 1 : 2) / sigma,

  limit(run, sigma) {
    const mu = sigma ? run.reach / sigma : Infinity;
    if (run.p === 1) return Math.sqrt(run.composed) * gmip.step(run, sigma);
    if (run.sampling === "poisson" && run.adjacency === "replace-one")
      return 2 * run.p * Math.sqrt(run.composed * Math.sinh(mu * mu));
    return gmip.limitAt(run, mu, run.sampling === "poisson" ? "fixed" : "either");
  },

  pairs(run, sigma) {
    const mu = sigma ? run.reach / sigma : Infinity;
    const kinds =
      run.sampling !== "poisson" ? ["either"] : run.adjacency === "add-remove" ? ["joined", "left"] : ["exchanged"];
    return kinds.map((kind) => ({ kind, mu, p: run.p }));
  },

  // Corollary 5.1.
  mipStep(d, effective, k) {
    return (d + (2 * effective - 1) * k) / (effective * Math.sqrt(2 * d + 4 * effective * k));
  },

  // The level of the worst of some pairs of distributions.
  levelOf(step, limit, all) {
    const at = (rates) => all.map((one) => composed.tpr(one, rates)).reduce((a, b) => a.map((x, i) => Math.max(x, b[i])));
    const mu = Math.max(...all.map((one) => composed.mu(one, limit)));
    return { step, limit, mu, tpr: at(gmip.rates), at, cutOff: all.some(composed.isCutOff) };
  },

  differential(run, sigma, delta) {
    const all = gmip.pairs(run, sigma).map((pair) => composed.compose(pair, run.composed));
    const level = gmip.levelOf(gmip.step(run, sigma), gmip.limit(run, sigma), all);
    return { ...level, epsilon: Math.max(...all.map((one) => composed.epsilon(one, delta))) };
  },

  membership(run, sigma, d, k, implied) {
    if (d === null) return { ...implied, oneSided: implied.mu };
    const step = gmip.mipStep(d, run.n + sigma * sigma, k ?? d);
    const [fixed, either] = ["joined", "either"].map((kind) => composed.compose({ kind, mu: step, p: run.p }, run.composed));
    const own = gmip.levelOf(step, gmip.limitAt(run, step, "fixed"), [fixed]);
    const limit = gmip.limitAt(run, step, "either");
    const mu = Math.min(Math.max(composed.mu(either, limit), own.mu), implied.mu);
    const at = (rates) => {
      const other = implied.at(rates);
      return own.at(rates).map((x, i) => Math.min(x, other[i]));
    };
    const cutOff = own.cutOff && implied.mu === Infinity;
    return { step, limit: Math.min(limit, implied.limit), mu, tpr: at(gmip.rates), oneSided: Math.min(own.mu, mu), at, cutOff };
  },

  assess(sizes, sigma) {
    const run = gmip.schedule(sizes);
    const differential = gmip.differential(run, sigma, sizes.delta);
    const membership = gmip.membership(run, sigma, sizes.d, sizes.k, differential);
    const tau = (sigma * sizes.clip) / sizes.n;
    return { steps: run.steps, sigma, tau, membership, differential, epsilon: differential.epsilon };
  },

  // The noise multiplier that the fields ask for: given, or the least that keeps the target.
  sigma(sizes) {
    const [target, protect] = sizes.start.split("-");
    if (target === "sigma") return sizes.value;
    if (target === "tau") return (sizes.value * sizes.n) / sizes.clip;
    const run = gmip.schedule(sizes);
    const reached = (sigma) => {
      let level = gmip.differential(run, sigma, sizes.delta);
      if (target === "epsilon") return level.epsilon;
      if (protect === "membership") level = gmip.membership(run, sigma, sizes.d, sizes.k, level);
      return target === "mu" ? level.mu : level.tpr[gmip.rates.indexOf(sizes.fpr)];
    };
    if (reached(0) <= sizes.value) return 0;
    return gmip.root(reached, sizes.value, Math.max(gmip.leastSigma, run.reach / gmip.largestStep));
  },

  // Where a falling function has this value, in powers of 2 from 1 and then by Ridders' method; NaN
  // where no sigma reaches it, or only one that tells next to all.
  root(reached, value, least) {
    let high = 1;
    let atHigh = reached(high);
    while (atHigh > value) {
      high *= 2;
      if (high > gmip.mostSigma) return NaN;
      atHigh = reached(high);
    }
    let low = Math.max(high / 2, least);
    let atLow = reached(low);
    while (atLow <= value) {
      if (low <= least) return least;
      [high, atHigh] = [low, atLow];
      low = Math.max(low / 2, least);
      atLow = reached(low);
    }
    if (atLow === Infinity) return NaN;
    let [a, fa, b, fb] = [Math.log(low), atLow - value, Math.log(high), atHigh - value];
    for (let i = 0, last = NaN; i < 60; i += 1) {
      const middle = (a + b) / 2;
      const fm = reached(Math.exp(middle)) - value;
      const next = middle + ((middle - a) * fm) / Math.sqrt(fm * fm - fa * fb);
      const fn = reached(Math.exp(next)) - value;
      if (fm === 0 || fn === 0 || Math.abs(next - last) < 1e-8) return Math.exp(fm === 0 ? middle : next);
      last = next;
      // Of the four points in order, the two between which the sign changes.
      const points = [[a, fa], [middle, fm], [next, fn], [b, fb]].sort((x, y) => x[0] - y[0]);
      const from = points.findLastIndex(([, f]) => f > 0);
      [[a, fa], [b, fb]] = [points[from], points[from + 1]];
    }
    return Math.exp((a + b) / 2);
  },
};

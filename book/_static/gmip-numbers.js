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

  keys: ["n", "n_records", "epochs", "rate", "steps", "sigma"],
  mostSteps: 1e9,
  mostInGroup: 100,
  mostRecords: 200,

  // What is wrong with the fields, in a sentence; empty where nothing is.
  problem(given) {
    const { history, sampling, adjacency, group, d, k, delta, clip, prior, epsilon } = given;
    const number = (x, least, most) => x >= least && x <= most;
    const fixed = gmip.phaseProblem(given.phase, sampling, d);
    if (fixed) return fixed;
    for (const [i, phase] of history.entries()) {
      const wrong = phase.wrong ?? gmip.phaseProblem(phase, sampling, d);
      if (wrong) return `Phase ${i + 1}: ${wrong[0].toLowerCase()}${wrong.slice(1)}`;
    }
    if (gmip.run(given, 1).steps > gmip.mostSteps) return "Give at most 1e9 steps.";
    if (adjacency === "add-remove" && sampling !== "poisson")
      return `No accountant exists for ${sampling} batches when a record is added or removed: choose “replaced”, or Poisson sampling.`;
    if (!number(delta, 1e-100, 1 - 1e-16)) return "Give a delta of 1e-100 or more and below 1.";
    if (!number(clip, 1e-15, 1e15)) return "Give a clipping norm C above 0.";
    if (!(number(group, 1, gmip.mostInGroup) && Number.isInteger(group))) return `Give a whole number of records in a group, 1 to ${gmip.mostInGroup}.`;
    if (group > 1 && d !== null) return "The level of membership inference is of one record: for a group leave the dimension d empty.";
    if (group > 1 && gmip.run(given, 1).phases.some(({ p }) => p < 1) && (adjacency !== "add-remove"))
      return "No accountant here for groups of replaced records in batches drawn at random: choose “added or removed” and Poisson sampling.";
    if (d !== null && !number(d, 1, 1e15)) return "Give a dimension d of 1 or more, or leave it empty.";
    if (!k.every((one) => one > 0 && one <= 1e15)) return "Give a susceptibility K above 0, several with spaces between them, or leave it empty for K = d.";
    if (k.length > gmip.mostRecords) return `Give at most ${gmip.mostRecords} values of K; quantiles for more records.`;
    if (!(prior > 0 && prior < 1)) return "Give a share of members above 0 and below 100%.";
    if (!number(epsilon, 0, gmip.largestEpsilon)) return "Give an epsilon of 0 to 600 whose delta is asked.";
    return gmip.targetProblem(given) || gmip.auditProblem(given.audit);
  },

  // Of one phase: sizes, or a rate and steps in their place.
  phaseProblem({ n, n_records: records, epochs, rate, steps, sigma }, sampling, d) {
    const number = (x, least, most) => x >= least && x <= most;
    if (rate === null || n !== null) {
      if (!number(n, 1e-15, 1e15)) return "Give a batch size n above 0.";
      if (sampling !== "poisson" && n < 1) return `Give a batch size n of 1 or more for ${sampling} batches.`;
    }
    if (d !== null && !(n >= 2)) return "For membership inference give a batch size n of 2 or more, or leave d empty.";
    if (rate === null && !number(records, n, 1e15)) return `Give a number of records N of at least the batch size, ${n}.`;
    if (rate !== null && records !== null) return "Give a sampling rate or a number of records, not both.";
    if (rate !== null && !number(rate, 1e-15, 1)) return "Give a sampling rate above 0, at most 1.";
    if (steps !== null && epochs !== null) return "Give steps or epochs, not both.";
    if (steps !== null && !(steps >= 1 && Number.isInteger(steps))) return "Give a whole number of steps, 1 or more.";
    if (steps === null && !(epochs > 0 && epochs <= 1e9)) return "Give a number of epochs above 0.";
    if (sigma !== undefined && !(sigma === 0 || number(sigma, gmip.leastSigma, gmip.mostSigma)))
      return "Give a noise multiplier sigma of 0, or 0.001 to 1e6.";
    return "";
  },

  targetProblem({ start, value, phase, clip, fpr, d }) {
    const [target, protect] = start.split("-");
    if (target === "tau" && phase.n === null) return "Give a batch size n: τ is the noise on a mean of n gradients.";
    if (target === "sigma" || target === "tau") {
      const sigma = target === "tau" ? (value * phase.n) / clip : value;
      return sigma === 0 || (sigma >= gmip.leastSigma && sigma <= gmip.mostSigma)
        ? ""
        : "Give a noise of 0, or a noise multiplier of 0.001 to 1e6.";
    }
    if (protect === "membership" && d === null) return "For membership inference give the dimension d.";
    if (target === "tpr") return value > fpr && value < 1 ? "" : "Give a true positive rate above the false positive rate and below 100%.";
    return value > 0 && value <= 100 ? "" : "Give a target above 0, at most 100.";
  },

  auditProblem({ epsilon, delta, mu }) {
    if (epsilon !== null && !(epsilon >= 0 && epsilon <= gmip.largestEpsilon)) return "Give the audit’s bound on ε as 0 to 600, or leave it empty.";
    if (epsilon !== null && !(delta >= 0 && delta < 1)) return "Give the audit’s δ as 0 or more and below 1.";
    if (mu !== null && !(mu >= 0 && mu < 1e15)) return "Give the audit’s bound on μ as 0 or more, or leave it empty.";
    return "";
  },

  // Earlier phases, one a line: name=value, with the names of the Python library.
  history(text) {
    return text.split(/[\n;]/).filter((line) => line.trim()).map((line) => {
      const phase = { ...Object.fromEntries(gmip.keys.map((key) => [key, null])), sigma: 0 };
      for (const part of line.replaceAll(",", " ").split(/\s+/).filter(Boolean)) {
        const [name, value, ...more] = part.split("=");
        if (!gmip.keys.includes(name)) phase.wrong ??= `Unknown “${name}”; a phase has ${gmip.keys.join(", ")}.`;
        else if (!value || more.length || Number.isNaN(Number(value))) phase.wrong ??= `Give ${name}=number in the place of “${part}”.`;
        else phase[name] = Number(value);
      }
      return phase;
    });
  },

  phase({ n, n_records: total, epochs, rate, steps }, sampling, sigma) {
    const size = rate === null ? n : (n ?? 1);
    const records = rate === null ? total : size / rate;
    const count = steps ?? Math.ceil((records * epochs) / size);
    const passes = Math.ceil(steps === null ? epochs : Number(((steps * size) / records).toFixed(9)));
    const shuffled = sampling === "shuffled";
    return { n: size, records, steps: count, composed: shuffled ? passes : count, p: shuffled ? 1 : (rate ?? size / records), sigma };
  },

  // Phases on the same records; the last one is the run in question.
  run({ phase, history, sampling, adjacency, group }, sigma) {
    const phases = [...history.map((one) => gmip.phase(one, sampling, one.sigma)), gmip.phase(phase, sampling, sigma)];
    const steps = phases.reduce((sum, one) => sum + one.steps, 0);
    return { phases, steps, sampling, adjacency, group, reach: sampling === "poisson" ? 1 : 2 };
  },

  // mu of a phase's steps, in the limit of many, where each has the level mu.
  limitAt(phase, mu, order) {
    if (phase.p === 1) return Math.sqrt(phase.composed) * mu;
    const rate = (phase.n * Math.sqrt(phase.composed)) / phase.records;
    const square = Math.expm1(mu * mu);
    if (order === "fixed" || square === Infinity) return rate * Math.sqrt(square);
    const erf = (x) => 1 - 2 * game.upperTail(x * Math.SQRT2);
    const u = mu / Math.sqrt(8);
    const excess = square * game.upperTail(-1.5 * mu) + 0.5 * erf(3 * u) - 1.5 * erf(u);
    return rate * Math.sqrt(2 * Math.max(excess, 0));
  },

  // mu of the most telling step, where its batch holds the record.
  step: (run) => Math.max(...run.phases.map((phase) => (run.group * (run.adjacency === "add-remove" ? 1 : 2)) / phase.sigma)),

  limit: (run) => Math.hypot(...run.phases.map((phase) => gmip.phaseLimit(run, phase))),

  phaseLimit(run, phase) {
    const mu = run.reach / phase.sigma;
    if (phase.p === 1) return Math.sqrt(phase.composed) * gmip.step({ ...run, phases: [phase] });
    if (run.sampling === "poisson" && run.adjacency === "replace-one")
      return 2 * phase.p * Math.sqrt(phase.composed * Math.sinh(mu * mu));
    if (run.group > 1) {
      const drawn = losses.mixture({ mu: 1, p: phase.p, group: run.group });
      const square = drawn.reduce((all, [a, i]) => all + drawn.reduce((sum, [b, j]) => sum + a * b * (i && j ? Math.expm1(mu * mu * i * j) : 0), 0), 0);
      return Math.sqrt(phase.composed * square);
    }
    return gmip.limitAt(phase, mu, run.sampling === "poisson" ? "fixed" : "either");
  },

  kinds: ({ sampling, adjacency }) =>
    sampling !== "poisson" ? ["either"] : adjacency === "add-remove" ? ["joined", "left"] : ["exchanged"],

  parts: (run, kind) =>
    run.phases.map(({ sigma, p, composed: steps }) => ({ pair: { kind, mu: run.reach / sigma, p, group: run.group }, steps })),

  // Corollary 5.1.
  mipStep(d, effective, k) {
    return (d + (2 * effective - 1) * k) / (effective * Math.sqrt(2 * d + 4 * effective * k));
  },

  // The level of the worst of some pairs of distributions.
  levelOf(step, limit, all) {
    const at = (rates) => all.map((one) => composed.tpr(one, rates)).reduce((a, b) => a.map((x, i) => Math.max(x, b[i])));
    const most = (ask) => (...what) => Math.max(...all.map((one) => ask(one, ...what)));
    const asked = { auc: most(composed.auc), delta: most(composed.delta), epsilon: most(composed.epsilon) };
    return { step, limit, mu: most(composed.mu)(limit), tpr: at(gmip.rates), at, asked, cutOff: all.some(composed.isCutOff) };
  },

  differential: (run) => gmip.levelOf(gmip.step(run), gmip.limit(run), gmip.kinds(run).map((kind) => composed.compose(gmip.parts(run, kind)))),

  // The parts of a record of susceptibility K against membership inference.
  own: (run, d, k, kind) =>
    run.phases.map(({ n, p, sigma, composed: steps }) => ({ pair: { kind, mu: gmip.mipStep(d, n + sigma * sigma, k), p }, steps })),

  membership(run, d, k, implied) {
    if (d === null) return { ...implied, oneSided: implied.mu };
    const [fixed, either] = ["joined", "either"].map((kind) => composed.compose(gmip.own(run, d, k, kind)));
    const steps = gmip.own(run, d, k, "joined").map(({ pair }) => pair.mu);
    const limitAt = (order) => Math.hypot(...run.phases.map((phase, i) => gmip.limitAt(phase, steps[i], order)));
    const own = gmip.levelOf(Math.max(...steps), limitAt("fixed"), [fixed]);
    const limit = limitAt("either");
    const mu = Math.min(Math.max(composed.mu(either, limit), own.mu), implied.mu);
    const at = (rates) => {
      const other = implied.at(rates);
      return own.at(rates).map((x, i) => Math.min(x, other[i]));
    };
    const least = (name) => (...what) => Math.min(own.asked[name](...what), implied.asked[name](...what));
    const asked = Object.fromEntries(["auc", "delta", "epsilon"].map((name) => [name, least(name)]));
    const cutOff = own.cutOff && implied.mu === Infinity;
    return { step: own.step, limit: Math.min(limit, implied.limit), mu, tpr: at(gmip.rates), oneSided: Math.min(own.mu, mu), at, asked, cutOff };
  },

  susceptible: ({ d, k }) => (k.length ? Math.max(...k) : d),

  posterior: (prior, tpr) => tpr.map((one, i) => (prior * one) / (prior * one + (1 - prior) * gmip.rates[i])),

  assess(given, sigma) {
    const run = gmip.run(given, sigma);
    const differential = gmip.differential(run);
    const membership = gmip.membership(run, given.d, gmip.susceptible(given), differential);
    for (const level of [membership, differential]) {
      level.auc = level.asked.auc();
      level.advantage = level.asked.delta(0);
      level.delta = level.asked.delta(given.epsilon);
      level.posterior = gmip.posterior(given.prior, level.tpr);
    }
    const several = given.d !== null && given.k.length > 1;
    const mixture = several ? composed.mixture(given.k.map((k) => gmip.own(run, given.d, k, "joined")), gmip.rates).map((x, i) => Math.min(x, differential.tpr[i])) : [];
    const epsilon = differential.asked.epsilon(given.delta);
    const tau = given.phase.n === null ? null : (sigma * given.clip) / given.phase.n;
    return { steps: run.steps, sigma, tau, membership, differential, epsilon, mixture, statement: gmip.statement(run, epsilon, given.delta) };
  },

  version: "0.1.0",

  // The promise in a line to cite: membership.privacy.statement.
  statement(run, epsilon, delta) {
    const digits = (x) => {
      const [head, power] = Number(x.toPrecision(6)).toExponential().split("e").map(Number);
      if (power >= -4 && power < 6) return String(Number(x.toPrecision(6)));
      return `${head}e${power < 0 ? "-" : "+"}${String(Math.abs(power)).padStart(2, "0")}`;
    };
    const told = epsilon === Infinity ? "infinite" : (Math.ceil(Number((epsilon * 1e3).toFixed(6))) / 1e3).toFixed(3);
    const who = run.group === 1 ? "one record" : `${run.group} records`;
    const drawn = { poisson: "Poisson sampling", fixed: "batches of a fixed size", shuffled: "shuffled" }[run.sampling];
    const phases = run.phases.map(({ p, steps, sigma }) => `${run.sampling === "shuffled" ? "" : `rate ${digits(p)}, `}${steps} steps, noise multiplier ${digits(sigma)}`);
    const accountant = run.phases.every(({ p }) => p === 1) ? "Gaussian differential privacy in closed form" : "numerical composition of privacy losses";
    return `(${told}, ${digits(delta)})-differential privacy, ${who} ${run.adjacency === "add-remove" ? "added or removed" : "replaced"}; ${drawn}, ${phases.join("; then ")}; ${accountant} (membership ${gmip.version})`;
  },

  // What an audit proved beside what is promised, in sentences.
  judged({ epsilon, delta, mu }, level) {
    const word = (proved, promised) => (proved > promised ? "the promise is refuted" : "not refuted by these attacks");
    const told = (x) => (Number.isFinite(x) ? x.toFixed(4) : "none");
    const sentences = [];
    if (epsilon !== null && delta > 0) {
      const most = level.asked.epsilon(delta);
      sentences.push(`The audit proves ε of at least ${told(epsilon)} at δ = ${delta}, promised is ${told(most)}: ${word(epsilon, most)}.`);
    } else if (epsilon !== null) sentences.push(`The audit proves ε of at least ${told(epsilon)} at δ = 0, where noisy SGD promises none: audit at a δ above 0 to compare.`);
    if (mu !== null) sentences.push(`The audit proves μ of at least ${told(mu)}, promised is ${told(level.mu)}: ${word(mu, level.mu)}.`);
    return sentences;
  },

  // The noise multiplier that the fields ask for: given, or the least that keeps the target.
  sigma(given) {
    const { start, value, phase, clip, d, delta, fpr } = given;
    const [target, protect] = start.split("-");
    if (target === "sigma") return value;
    if (target === "tau") return (value * phase.n) / clip;
    const reached = (sigma) => {
      const run = gmip.run(given, sigma);
      let level = gmip.differential(run);
      if (target === "epsilon") return level.asked.epsilon(delta);
      if (protect === "membership") level = gmip.membership(run, d, gmip.susceptible(given), level);
      return target === "mu" ? level.mu : level.tpr[gmip.rates.indexOf(fpr)];
    };
    if (reached(0) <= value) return 0;
    return gmip.root(reached, value, Math.max(gmip.leastSigma, gmip.run(given, 1).reach / gmip.largestStep));
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

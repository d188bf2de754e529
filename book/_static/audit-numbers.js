// What scores prove: membership.audit.audit in JavaScript, with the names of the Python modules
// population, lower_bounds and report, where every step is explained. Needs audit-beta.js, and
// game-numbers.js for the normal distribution.
"use strict";

const audit = {
  rates: [0.001, 0.01, 0.1],
  priors: [0.5, 0.1, 0.01],
  mostExposed: 20,
  leastInGroup: 10,
  carried: 10,
  fdr: 0.1,
  tied: 0.05,

  report({ score, member, column, group, record, named, notRead, units, noted }, level, delta, promised = {}) {
    const sides = audit.sides(score, member);
    const area = audit.area(sides, level);
    const rates = audit.rates.map((fpr) => audit.rate(sides, fpr, level));
    const tests = audit.tests(sides);
    const tried = audit.places(sides.members.length).length + audit.places(sides.others.length).length;
    // All promises are judged at the level together.
    const paid = 1 - (1 - level) / Math.max(Object.keys(promised).length, 1);
    const error = (1 - paid) / tried;
    const [of, ofMu] = [audit.epsilon(delta), (z, value) => game.upperTail(-z - value)];
    const perfect = audit.tests({ members: sides.members.map(() => 1), others: sides.others.map(() => 0) });
    const bound = (allowed) => {
      const [value, provable] = [tests, perfect].map((each) => audit.bound(each, allowed, error));
      const reason = value ? null : audit.reason(score, sides, provable);
      return { value, level: paid, delta, tried, provable, reason };
    };
    const bounds = { epsilon: bound(of), mu: bound(ofMu) };
    bounds.mu.epsilon = delta ? audit.epsilonOf(bounds.mu.value, delta) : null;
    const whole = units ? " for a whole unit" : "";
    const promises = Object.keys(promised).map((notion) => audit.judged(notion, promised[notion], bounds[notion], whole));
    const warnings = audit.warnings({ score, member, column, notRead, noted }, sides, level);
    const groupLevel = 1 - (1 - level) / Math.max(new Set(group ?? []).size, 1);
    const groups = group ? audit.groups({ score, member, group }, sides, groupLevel) : [];
    const who = audit.named({ score, member, record }, sides);
    return {
      format: "membership-audit-1",
      level,
      records: { members: sides.members.length, non_members: sides.others.length },
      ...(units ? { units } : {}),
      auc: area,
      tpr_at_fpr: rates,
      positive_predictive_value: rates.flatMap((rate) => audit.priors.map((prior) => audit.predicted(rate, prior))),
      epsilon_lower_bound: bounds.epsilon,
      mu_lower_bound: bounds.mu,
      ...(promises.length ? { promises } : {}),
      groups,
      group_level: groupLevel,
      named: who,
      most_exposed: audit.exposed({ score, member, group, record, named }, sides),
      meaning: audit.meaning(area, rates, who.sentence, groups, bounds, promises, whole),
      checklist: audit.checklist(named, Boolean(group), Boolean(units), warnings.length > (notRead.length ? 1 : 0)),
      warnings,
    };
  },

  // Why nothing is proved of distinct records.
  reason(score, { members, others }, provable) {
    if (!provable)
      return `0 proves nothing: ${members.length} members and ${others.length} others are too few. An attack that is never wrong would have a bound of 0 too, at this confidence and delta.`;
    const tied = audit.most(score);
    if (2 * tied > score.length) return `0 proves nothing: ${tied} of ${score.length} records share a score, which hides what there is to find.`;
    return "0 proves nothing: at no threshold were more guesses right than chance allows. A stronger attack, or more records, may prove more.";
  },

  counted(values) {
    const counts = new Map();
    values.forEach((value) => counts.set(value, (counts.get(value) ?? 0) + 1));
    return counts;
  },

  // How many share the most frequent score.
  most(score) {
    return [...audit.counted(score).values()].reduce((a, b) => Math.max(a, b));
  },

  // What the numbers mean for a release, for whom they mean more, and what they do not.
  meaning(area, rates, named, groups, { epsilon: { value: epsilon, tried, level }, mu: { value: mu } }, promises, whole) {
    const percent = (share) => `${(100 * share).toFixed(1)}%`;
    const least = rates.find(({ measured }) => measured) ?? rates[2];
    const accused = `${Number((100 * least.fpr).toPrecision(6))}%`;
    const rate = rates[1];
    const exposed = groups.filter(({ tpr, fpr }) => tpr && fpr && tpr.low > Math.max(rate.high, fpr.high));
    const worst = exposed.reduce((most, one) => (most && most.tpr.low >= one.tpr.low ? most : one), null);
    const nothing = "The bounds prove nothing of the training's privacy: neither that it leaks nor that it protects.";
    const more = ` An AUC above 0.5 does not contradict that: it takes all thresholds together, while a bound is of the best of ${tried} and pays for each.`;
    const byAuc = " By its AUC this attack does better than guessing; at that rate it may not.";
    const few = " Too few non-members were asked to call that measured.";
    const refuted = `Where what is assumed below holds, a promise of differential privacy${whole} with an epsilon below ${epsilon.toFixed(3)}, at the delta of this report, is refuted. The true epsilon may be far larger.`;
    return [
      area.low > 0.5 || least.low > least.fpr
        ? `Who sees of the released model what this attack saw, and accepts that ${accused} of non-members are accused, finds ${percent(least.low)} to ${percent(least.high)} of the members. Guessing finds ${accused}.${least.low > least.fpr ? "" : byAuc}${least.measured ? "" : few}`
        : `By its AUC, and where ${accused} of non-members are accused, this attack does not tell members from others better than guessing would.`,
      ...(worst
        ? [
            `Some are found more often: of the members in group ${worst.group}, the threshold that accuses 1% of all non-members finds ${percent(worst.tpr.low)} to ${percent(worst.tpr.high)}.`,
          ]
        : []),
      named,
      ...(promises.length ? audit.told(promises, tried, level) : epsilon ? [refuted] : mu ? [] : [area.low > 0.5 ? nothing + more : nothing]),
      "No number here says that the model is safe: a stronger attack may find more, other records may be more exposed, and another training may leak more.",
    ];
  },

  // A promise with its verdict, and the sentence that can be signed.
  judged(notion, promised, { value, provable, level, delta, reason }, whole) {
    const of = notion === "epsilon" ? "an epsilon" : "a mu";
    const said =
      notion === "epsilon"
        ? `The promise of differential privacy${whole} with an epsilon of ${audit.short(promised)} at a delta of ${audit.short(delta)}`
        : `The promise of Gaussian privacy${whole} with a mu of ${audit.short(promised)}`;
    const least = value ? `${of} of at least ${value.toFixed(3)}` : `no ${notion} above 0`;
    const proved = `${least} at a confidence of ${audit.short(100 * level)}%`;
    const told = (verdict, rest) => ({ notion, promised, ...(notion === "epsilon" ? { delta } : {}), verdict, sentence: `${said} is ${rest}` });
    if (!provable) return told("not tested", `not tested: ${reason.replace("0 proves nothing: ", "")}`);
    if (value > promised) return told("refuted", `refuted: this attack proves ${proved}.`);
    if (provable <= promised)
      return told("not tested", `not tested by these records: even an attack that is never wrong would prove no more than ${of} of ${provable.toFixed(3)}.`);
    return told("not refuted", `not refuted by this attack, which proves ${proved}. Another attack may refute it.`);
  },

  // The sentences on promises, and the budget of error that they share.
  told(promises, tried, level) {
    const error = audit.short(100 * (1 - level) * promises.length);
    const sharing = `${promises.length > 1 ? "Two promises and " : ""}${tried} thresholds`;
    return [
      ...promises.map(({ sentence }) => sentence),
      `Where what is assumed below holds, a promise that is kept is called refuted in at most ${error}% of such audits. ${sharing} share that error.`,
    ];
  },

  // As Python's format g writes a number.
  short(value) {
    const [digits, power] = value.toExponential(5).split("e");
    if (value !== 0 && (power < -4 || power > 5)) return `${Number(digits)}e${power[0]}${power.slice(1).padStart(2, "0")}`;
    return String(Number(value.toPrecision(6)));
  },

  // What was assumed, tested and not tested, in the words of membership.audit.sentences.
  checklist(named, grouped, whole, noted) {
    const one = whole ? "unit" : "record";
    const order = `igher scores mean member, few records tie,${named ? " none occurs twice," : ""} no score numbers or orders the rows, and neither side is rare`;
    const items = (status, texts) => texts.map((text) => ({ status, text }));
    return [
      ...items("assumed", [
        "Memberships are right: members are the records that the model was trained on, and no others.",
        `Memberships were drawn independently, ${one} by ${one}. The bounds rest on it.`,
        `No ${one}'s score moves with another ${one}'s membership. The bounds rest on it.`,
        ...(whole
          ? [
              "All records of one person, or of what else a unit is, are in one unit, which was in or out whole. A unit's score is the mean of its records', and everything here counts units. Bounds and promises are of a whole unit: what was promised for single records promises less for it.",
            ]
          : []),
        "Members and non-members differ in membership alone. Scores cannot show whether they do.",
        "The attack and its settings were not chosen on these records.",
      ]),
      ...items("tested", [noted ? `Whether h${order}: a note says what was found.` : `H${order}.`]),
      ...items("not tested", [
        "Stronger attacks. One that sees more of the model, of its training or of other models may find more.",
        "Records more exposed than these, such as outliers, or canaries inserted on purpose.",
        "Another training. The next model trained in this way may leak more.",
        ...(named ? [] : ["Copies of records. The records have no names."]),
        ...(grouped ? [] : ["Groups, such as classes or clinics. Nothing says which records are of one."]),
        ...(whole
          ? []
          : [
              "Units, such as persons with several records. No column `unit` says which records belong together, and each counts as an independent trial.",
            ]),
      ]),
    ];
  },

  // The scores of either side, rising.
  sides(score, member) {
    const of = (wanted) => Float64Array.from(score.filter((_, i) => member[i] === wanted)).sort();
    return { members: of(true), others: of(false) };
  },

  // How many of the rising scores are below a value, or at most it.
  below(sorted, value, orEqual = false) {
    let [low, high] = [0, sorted.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (sorted[middle] < value || (orEqual && sorted[middle] === value)) low = middle + 1;
      else high = middle;
    }
    return low;
  },

  // AUC with DeLong's interval on the scale of log-odds.
  area({ members, others }, level) {
    const won = (value, sorted) => (audit.below(sorted, value) + audit.below(sorted, value, true)) / 2;
    const above = Array.from(members, (value) => won(value, others) / others.length);
    const below = Array.from(others, (value) => 1 - won(value, members) / members.length);
    const mean = (values) => values.reduce((sum, value) => sum + value, 0) / values.length;
    const value = mean(above);
    const error = (1 - level) / 2;
    if (value === 0 || value === 1) {
      const pairs = Math.min(members.length, others.length);
      const far = beta.quantile(error, pairs, 1);
      return value ? { value, low: far, high: 1 } : { value, low: 0, high: 1 - far };
    }
    const variance = (values) => {
      const centre = mean(values);
      return values.reduce((sum, each) => sum + (each - centre) ** 2, 0) / (values.length - 1) / values.length;
    };
    const wide = game.thresholdAt(error) * Math.sqrt(variance(above) + variance(below)) / (value * (1 - value));
    const [low, high] = [-wide, wide].map((part) => 1 / (1 + Math.exp(-(Math.log(value / (1 - value)) + part))));
    return { value, low, high };
  },

  rate(sides, fpr, level) {
    const expected = fpr * sides.others.length;
    const value = audit.tprAt(sides, fpr);
    const [low, high] = audit.tprInterval(sides, fpr, level);
    return { fpr, value, low, high, expected_false_positives: expected, measured: expected >= audit.carried };
  },

  // Ties are resolved against the attacker.
  tprAt({ members, others }, fpr) {
    const accepted = (value) => (others.length - audit.below(others, value)) / others.length;
    let [low, high] = [0, members.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (accepted(members[middle]) <= fpr) high = middle;
      else low = middle + 1;
    }
    return (members.length - low) / members.length;
  },

  // How many of the others lie above the threshold is a binomial count; its laws of the TPR are mixed.
  tprInterval({ members, others }, fpr, level) {
    const [n, total] = [others.length, members.length];
    const far = 6 * Math.sqrt(n * fpr * (1 - fpr));
    const [first, last] = [Math.max(0, Math.floor(n * fpr - far)), Math.min(n, Math.ceil(n * fpr + far) + 12)];
    const step = Math.max(1, Math.floor((last - first) / 200));
    const counts = Array.from({ length: Math.floor((last - first) / step) + 1 }, (_, i) => first + i * step);
    const logs = counts.map(
      (k) => k * Math.log(fpr) + (n - k) * Math.log1p(-fpr) - beta.logGamma(k + 1) - beta.logGamma(n - k + 1),
    );
    const weights = audit.weights(logs);
    const sure = counts.map((k) => (k ? total - audit.below(members, others[n - k], true) : 0));
    const missed = counts.map((k) => (k < n ? audit.below(members, others[n - k - 1]) : 0));
    const error = (1 - level) / 2;
    return [audit.mixtureQuantile(sure, total, weights, error), 1 - audit.mixtureQuantile(missed, total, weights, error)];
  },

  // Weights of sum 1 of their logarithms.
  weights(logs) {
    const top = logs.reduce((a, b) => Math.max(a, b));
    const weights = logs.map((log) => Math.exp(log - top));
    const sum = weights.reduce((a, b) => a + b);
    return weights.map((weight) => weight / sum);
  },

  mixtureQuantile(successes, n, weights, probability) {
    const mixed = new Map();
    successes.forEach((k, i) => mixed.set(k, (mixed.get(k) ?? 0) + weights[i]));
    const none = mixed.get(0) ?? 0;
    if (none >= probability) return 0;
    mixed.delete(0);
    let [low, high] = [0, 1];
    for (let i = 0; i < 100; i += 1) {
      const middle = (low + high) / 2;
      let reached = none;
      mixed.forEach((weight, k) => (reached += weight * beta.cdf(middle, k, n - k + 1)));
      if (reached < probability) low = middle;
      else high = middle;
      if (high - low <= 1e-14 * high) break;
    }
    return high;
  },

  // The share of members among those accused, where a share `prior` of all are members.
  predicted(rate, prior) {
    const at = (tpr) => (tpr * prior) / (tpr * prior + rate.fpr * (1 - prior));
    return { fpr: rate.fpr, prior, value: at(rate.value), low: at(rate.low), high: at(rate.high) };
  },

  // The highest detection rate that a level allows where the false alarm rate is Phi(z).
  epsilon: (delta) => (z, value) => Math.min(Math.exp(value) * game.upperTail(-z) + delta, 1),

  // The epsilon of mu-Gaussian privacy at a delta above 0.
  epsilonOf(mu, delta) {
    const excess = (value) => {
      const tail = game.upperTail(value / mu + mu / 2);
      return game.upperTail(value / mu - mu / 2) - (tail ? Math.exp(value + Math.log(tail)) : 0) - delta;
    };
    return mu === 0 || excess(0) <= 0 ? 0 : audit.rising((value) => excess(value) <= 0, 0);
  },

  // The least value above one at which something holds from there on.
  rising(holds, from) {
    let [low, high] = [from, from + 1];
    while (!holds(high)) high *= 2;
    for (let i = 0; i < 60; i += 1) {
      const middle = (low + high) / 2;
      if (holds(middle)) high = middle;
      else low = middle;
    }
    return high;
  },

  // The 1st, 4th, 16th ... highest of n scores, of the upper half, and its last.
  places(n) {
    const powers = Array.from({ length: 26 }, (_, i) => 4 ** i).filter((k) => 2 * k <= n);
    return [...new Set([...powers, Math.floor(n / 2)])];
  },

  // The largest level that a threshold refutes, each with its share of the error.
  bound(tests, allowed, error) {
    let best = 0;
    tests.forEach(({ z, weight, detected, total }) => {
      const explained = (value) => {
        let chance = 0;
        z.forEach((at, i) => (chance += weight[i] * beta.cdf(allowed(at, value), detected, total - detected + 1)));
        return chance > error;
      };
      if (!explained(best)) best = audit.rising(explained, best);
    });
    return best;
  },

  // Thresholds in detection of members, and in detection of others.
  tests({ members, others }) {
    const turned = (side) => side.map((value) => -value).reverse();
    return [...audit.testsOf(members, others), ...audit.testsOf(turned(others), turned(members))];
  },

  testsOf(found, others) {
    return audit.places(others.length).flatMap((k) => {
      const threshold = others[others.length - k];
      // Where others tie there, fewer of them lie above than k - 1.
      const alarms = others.length - audit.below(others, threshold, true);
      const detected = found.length - audit.below(found, threshold, true);
      if (!detected) return [];
      return [{ ...audit.falseAlarms(alarms, others.length), detected, total: found.length }];
    });
  },

  // The law of the false alarm rate, Beta(alarms + 1, total - alarms), at z = Phi^-1 of it.
  falseAlarms(alarms, total) {
    const [a, b] = [alarms + 1, total - alarms];
    const low = -game.thresholdAt(beta.quantile(1e-10, a, b));
    const high = game.thresholdAt(beta.quantile(1e-10, b, a));
    const z = Array.from({ length: 200 }, (_, i) => low + (i * (high - low)) / 199);
    const logs = z.map(
      (at) => (a - 1) * Math.log(game.upperTail(-at)) + (b - 1) * Math.log(game.upperTail(at)) - (at * at) / 2,
    );
    return { z, weight: audit.weights(logs) };
  },

  // Each group's own AUC, and its rates at the threshold of 1% false positives over all.
  groups({ score, member, group }, { others }, level) {
    const threshold = others[others.length - 1 - Math.floor((0.01 + 1e-12) * others.length + 1e-9)];
    const rowsOf = new Map();
    group.forEach((name, i) => (rowsOf.has(name) ? rowsOf.get(name).push(i) : rowsOf.set(name, [i])));
    return [...rowsOf].sort(([a], [b]) => (a < b ? -1 : 1)).map(([name, rows]) => {
      const sides = audit.sides(rows.map((i) => score[i]), rows.map((i) => member[i]));
      const counts = { members: sides.members.length, non_members: sides.others.length };
      const enough = Math.min(counts.members, counts.non_members) >= audit.leastInGroup;
      const above = (side) => audit.share(side.length - audit.below(side, threshold, true), side.length, level);
      const auc = enough ? audit.area(sides, level) : null;
      return { group: name, ...counts, auc, tpr: above(sides.members), fpr: above(sides.others) };
    });
  },

  // A share with the interval of Clopper and Pearson.
  share(count, total, level) {
    if (!total) return null;
    const least = (k) => (k ? beta.quantile((1 - level) / 2, k, total - k + 1) : 0);
    return { value: count / total, low: least(count), high: 1 - least(total - count) };
  },

  // Who may be named: conformal p-values, and Benjamini and Hochberg's procedure; `named` of Python.
  named({ score, member, record }, { members, others }) {
    const known = others.length;
    const p = (value) => (1 + known - audit.below(others, value)) / (1 + known);
    const rising = members.map(p).sort((a, b) => a - b);
    const last = rising.reduce((most, value, i) => (value <= (audit.fdr * (i + 1)) / score.length ? value : most), -1);
    const rows = score.map((_, i) => i).filter((i) => member[i] && p(score[i]) <= last);
    const before = (a, b) => (a < b ? -1 : a > b ? 1 : 0);
    rows.sort((a, b) => score[b] - score[a] || before(record[a], record[b]));
    const wrong = `${audit.short(100 * audit.fdr)}%`;
    const where = `where ${members.length} of ${score.length} who may be named are members.`;
    return {
      fdr: audit.fdr,
      members: rows.length,
      sentence: rows.length
        ? `${rows.length} of ${members.length} members stand on a list of names of which at most ${wrong} are wrong on average, ${where}`
        : `Nobody can be named by these scores, if at most ${wrong} of the names may be wrong on average ${where} Single records may be exposed all the same.`,
      assumed:
        "An accuser is supposed to know the scores of non-members like these, and to decide on the members and on as many further non-members. These have to be drawn like the known ones, and independently of each other; where members are rarer, more of the names are wrong.",
      own_rate:
        "No record's own false-positive rate is counted here: that takes models which were trained without it. A record that every model finds easy can stand on such a list without being a member.",
      records: rows.map((i) => ({ record: record[i], score: score[i], p: p(score[i]) })),
    };
  },

  exposed({ score, member, group, record, named }, { others }) {
    const rows = score.map((_, i) => i).filter((i) => member[i]);
    // Of those that tie the first by name, so that the order of the rows does not count.
    const before = (a, b) => (a < b ? -1 : a > b ? 1 : 0);
    const tied = (a, b) => (named ? before(record[a], record[b]) : 0) || (group ? before(group[a], group[b]) : 0);
    rows.sort((a, b) => score[b] - score[a] || tied(a, b));
    return rows.slice(0, audit.mostExposed).map((i) => ({
      record: record[i],
      score: score[i],
      fpr: 1 - audit.below(others, score[i]) / others.length,
      ...(group ? { group: group[i] } : {}),
    }));
  },

  // What tells a column that numbers or orders the rows, as no attack does; null elsewhere.
  rows(score) {
    const rising = Float64Array.from(score).sort();
    if (Number.isInteger(rising[0]) && rising.every((value, i) => i === 0 || (Number.isInteger(value) && value - rising[i - 1] === 1)))
      return `holds each whole number from ${rising[0]} to ${rising[rising.length - 1]} once, as a column that numbers the records does. If it is no attack, leave it out.`;
    const never = (wrong) => score.every((value, i) => i === 0 || !wrong(value, score[i - 1]));
    const sorted = "from one row to the next. Either the file was sorted by it, or it is a number of the row and no attack.";
    if (never((value, before) => value > before)) return `never rises ${sorted}`;
    if (never((value, before) => value < before)) return `never falls ${sorted}`;
    return null;
  },

  // What tells a column that is the membership itself; null elsewhere.
  truth(score, { members, others }) {
    const one = (side) => side.every((value) => value === side[0]);
    if (!one(members) || !one(others) || members[0] === others[0]) return null;
    return "is one number for every member and another for all others, as a column that says who is a member is. If it is no attack, leave it out.";
  },

  warnings({ score, member, column, notRead, noted }, sides, level) {
    const found = [];
    if (notRead.length)
      found.push(`Columns of the file that an audit does not read: ${notRead.slice(0, 10).join(", ")}${notRead.length > 10 ? ", ..." : ""}.`);
    const rows = audit.rows(score) ?? audit.truth(score, sides);
    if (rows) found.push(`${column} ${rows}`);
    if (audit.area(sides, level).high < 0.5)
      found.push("Members score lower than non-members: higher must mean member. Was a loss passed in the place of its negative?");
    const tied = audit.most(score);
    if (tied > audit.tied * score.length)
      found.push(`${tied} of ${score.length} records share one score. Ties count against the attack at low false-positive rates.`);
    found.push(...noted);
    const share = sides.members.length / member.length;
    if (share < 0.05 || share > 0.95)
      found.push(`${(100 * share).toFixed(1)}% of the records are members; the smaller side sets the precision.`);
    return found;
  },
};

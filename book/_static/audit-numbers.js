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
  tied: 0.05,

  report({ score, member, group, record, notRead }, level, delta) {
    const sides = audit.sides(score, member);
    const rates = audit.rates.map((fpr) => audit.rate(sides, fpr, level));
    return {
      level,
      records: { members: sides.members.length, non_members: sides.others.length },
      auc: audit.area(sides, level),
      tpr_at_fpr: rates,
      positive_predictive_value: rates.flatMap((rate) => audit.priors.map((prior) => audit.predicted(rate, prior))),
      epsilon_lower_bound: { value: audit.bound(score, member, audit.epsilon(delta), level), level, delta },
      mu_lower_bound: { value: audit.bound(score, member, audit.mu, level), level },
      groups: group ? audit.groups({ score, member, group }, sides, level) : [],
      most_exposed: audit.exposed({ score, member, group, record }, sides),
      warnings: audit.warnings({ score, member, record, notRead }, sides, level),
    };
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

  // Half of the error for the threshold, half for the members counted above it.
  tprInterval({ members, others }, fpr, level) {
    const error = (1 - level) / 4;
    const n = others.length;
    const first = (holds) => {
      let [low, high] = [1, n + 1];
      while (low < high) {
        const middle = (low + high) >> 1;
        if (holds(beta.cdf(fpr, middle, n - middle + 1))) high = middle;
        else low = middle + 1;
      }
      return low;
    };
    const strict = first((p) => p < 1 - error) - 1;
    const lenient = first((p) => p <= error);
    const sure = strict ? members.length - audit.below(members, others[n - strict], true) : 0;
    const possible = lenient <= n ? members.length - audit.below(members, others[n - lenient]) : members.length;
    const missed = members.length - possible;
    return [
      sure ? beta.quantile(error, sure, members.length - sure + 1) : 0,
      missed ? 1 - beta.quantile(error, missed, possible + 1) : 1,
    ];
  },

  // The share of members among those accused, where a share `prior` of all are members.
  predicted(rate, prior) {
    const at = (tpr) => (tpr * prior) / (tpr * prior + rate.fpr * (1 - prior));
    return { fpr: rate.fpr, prior, value: at(rate.value), low: at(rate.low), high: at(rate.high) };
  },

  epsilon: (delta) => (detected, alarmed) => Math.log(Math.max(detected - delta, 0)) - Math.log(alarmed),
  mu: (detected, alarmed) => (detected === 0 || alarmed === 1 ? -Infinity : game.thresholdAt(alarmed) - game.thresholdAt(detected)),

  // The threshold is chosen on one half of the records and judged on the other.
  bound(score, member, proved, level) {
    const first = audit.half(member);
    const pick = (wanted) => {
      const rows = score.map((_, i) => i).filter((i) => first[i] === wanted);
      return audit.sides(rows.map((i) => score[i]), rows.map((i) => member[i]));
    };
    const [one, two] = [pick(true), pick(false)];
    const thresholds = [...new Set([...one.members, ...one.others])].sort((a, b) => a - b);
    const best = audit.best(one, thresholds, proved, 1 - (1 - level) / thresholds.length);
    const found = audit.provedAt(two, [best.threshold], proved, level);
    return Math.max(0, found[best.inverted][0]);
  },

  best(sides, thresholds, proved, level) {
    const found = audit.provedAt(sides, thresholds, proved, level);
    let best = { value: -Infinity, threshold: thresholds[0], inverted: 0 };
    found.forEach((row, inverted) =>
      row.forEach((value, i) => {
        if (value > best.value) best = { value, threshold: thresholds[i], inverted };
      }),
    );
    return best;
  },

  // What each threshold proves: by detecting members, and by detecting others.
  provedAt({ members, others }, thresholds, proved, level) {
    const error = (1 - level) / 2;
    const kept = new Map();
    const least = (count, total) => {
      const key = count * 1e9 + total;
      if (!kept.has(key)) kept.set(key, count ? beta.quantile(error, count, total - count + 1) : 0);
      return kept.get(key);
    };
    const most = (count, total) => 1 - least(total - count, total);
    const [nIn, nOut] = [members.length, others.length];
    const accepted = thresholds.map((t) => [nIn - audit.below(members, t), nOut - audit.below(others, t)]);
    return [
      accepted.map(([inside, outside]) => proved(least(inside, nIn), most(outside, nOut))),
      accepted.map(([inside, outside]) => proved(least(nOut - outside, nOut), most(nIn - inside, nIn))),
    ];
  },

  // Half of the members and half of the others, as if at random.
  half(member) {
    const key = Uint32Array.from(member, (_, i) => audit.mixed(i));
    const order = member.map((_, i) => i).sort((a, b) => key[a] - key[b]);
    const first = new Array(member.length).fill(false);
    [true, false].forEach((side) => {
      const rows = order.filter((i) => member[i] === side);
      rows.slice(0, Math.floor(rows.length / 2)).forEach((i) => {
        first[i] = true;
      });
    });
    return first;
  },

  mixed(number) {
    let x = number;
    x = Math.imul(x ^ (x >>> 16), 0x7feb352d);
    x = Math.imul(x ^ (x >>> 15), 0x846ca68b);
    return (x ^ (x >>> 16)) >>> 0;
  },

  // Each group's own AUC, and its rates at the threshold of 1% false positives over all.
  groups({ score, member, group }, { others }, level) {
    const threshold = others[Math.ceil((others.length - 1) * 0.99)];
    const rowsOf = new Map();
    group.forEach((name, i) => (rowsOf.has(name) ? rowsOf.get(name).push(i) : rowsOf.set(name, [i])));
    return [...rowsOf].sort(([a], [b]) => (a < b ? -1 : 1)).map(([name, rows]) => {
      const sides = audit.sides(rows.map((i) => score[i]), rows.map((i) => member[i]));
      const counts = { members: sides.members.length, non_members: sides.others.length };
      const enough = Math.min(counts.members, counts.non_members) >= audit.leastInGroup;
      const above = (side) => (side.length ? 1 - audit.below(side, threshold, true) / side.length : null);
      const auc = enough ? audit.area(sides, level) : null;
      return { group: name, ...counts, auc, tpr: above(sides.members), fpr: above(sides.others) };
    });
  },

  exposed({ score, member, group, record }, { others }) {
    const rows = score.map((_, i) => i).filter((i) => member[i]);
    rows.sort((a, b) => score[b] - score[a]);
    return rows.slice(0, audit.mostExposed).map((i) => ({
      record: record[i],
      score: score[i],
      fpr: 1 - audit.below(others, score[i]) / others.length,
      ...(group ? { group: group[i] } : {}),
    }));
  },

  warnings({ score, member, record, notRead }, sides, level) {
    const found = [];
    if (notRead.length)
      found.push(`Columns of the file that an audit does not read: ${notRead.slice(0, 10).join(", ")}${notRead.length > 10 ? ", ..." : ""}.`);
    const counted = (values) => {
      const counts = new Map();
      values.forEach((value) => counts.set(value, (counts.get(value) ?? 0) + 1));
      return counts;
    };
    if (audit.area(sides, level).high < 0.5)
      found.push("Members score lower than non-members: higher must mean member. Was a loss passed in the place of its negative?");
    const tied = [...counted(score).values()].reduce((a, b) => Math.max(a, b));
    if (tied > audit.tied * score.length)
      found.push(`${tied} of ${score.length} records share one score. Ties count against the attack at low false-positive rates.`);
    const copies = [...counted(record)].filter(([, count]) => count > 1);
    if (copies.length) {
      copies.sort(([a, n], [b, m]) => m - n || (a < b ? -1 : 1));
      found.push(
        `${copies.length} records occur more than once (${copies[0][0]}, for example). Copies are no independent trials: the intervals are too narrow, and a record that is both member and non-member has no truth.`,
      );
    }
    const share = sides.members.length / member.length;
    if (share < 0.05 || share > 0.95)
      found.push(`${(100 * share).toFixed(1)}% of the records are members; the smaller side sets the precision.`);
    return found;
  },
};

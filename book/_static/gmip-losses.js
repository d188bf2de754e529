// Composition without a limit theorem: membership.privacy.numerical in JavaScript.
"use strict";

const losses = {
  cells: 2 ** 13,
  most: 2 ** 22,
  widest: 0.5,

  log1pexp: (a, b) => Math.max(a, b) + Math.log1p(Math.exp(-Math.abs(a - b))),

  none: [[1, 0]],

  // Weights of the normal laws of a step, and where they lie: of a group how many of it joined.
  mixture({ mu, p, group = 1 }) {
    let ways = 1;
    return Array.from({ length: group + 1 }, (_, j) => {
      if (j) ways *= (group - j + 1) / j;
      return [ways * p ** j * (1 - p) ** (group - j), j * mu];
    });
  },

  // Where the furthest of the laws lies whose weight is not below a share.
  top: (pair, share) => Math.max(pair.mu, ...losses.mixture(pair).map(([weight, place]) => (weight >= share ? place : 0))),

  // The logarithm of the mixture's density over that of N(0, 1), at each z.
  againstNull(pair, places) {
    const terms = losses.mixture(pair).slice(1).map(([weight, place]) => [Math.log(weight) - (place * place) / 2, place]);
    const stays = Math.log1p(-pair.p) * (pair.group ?? 1);
    const plus = (a, b) => (a === -Infinity ? b : b === -Infinity ? a : losses.log1pexp(a, b));
    return places.map((z) => terms.reduce((sum, [start, slope]) => plus(sum, start + slope * z), stays));
  },

  loss(pair, places) {
    const found = losses.againstNull(pair, places);
    if (pair.kind !== "exchanged") return found;
    const other = losses.againstNull(pair, places.map((z) => -z));
    return found.map((one, i) => one - other[i]);
  },

  isTwoSided: ({ kind }) => kind === "exchanged" || kind === "either",

  ends(pair, far, share) {
    const [bottom, top] = losses.loss(pair, [-3 - far, losses.top(pair, share) + far]);
    return { top, bottom: losses.isTwoSided(pair) ? -top : bottom };
  },

  // The z at which losses lie.
  observations(pair, found) {
    const { kind, mu, p, group = 1 } = pair;
    if (kind === "exchanged") {
      const drawn = p * Math.exp((-mu * mu) / 2);
      return found.map((loss) => {
        const half = ((1 - p) * Math.expm1(loss)) / 2;
        return Math.log((half + Math.hypot(half, drawn * Math.exp(loss / 2))) / drawn) / mu;
      });
    }
    const mixture = losses.mixture(pair);
    const drawn = group === 1 ? p : -Math.expm1(group * Math.log1p(-p));
    const lines = mixture.slice(1).filter(([weight]) => weight > 0).map(([weight, place]) => [Math.log(weight / drawn) - (place * place) / 2, place]);
    return found.map((loss) => {
      const sought = loss < -0.5 ? Math.log((Math.exp(loss) - mixture[0][0]) / drawn) : Math.log1p(Math.expm1(loss) / drawn);
      return Number.isNaN(sought) || sought === -Infinity ? -Infinity : losses.solved(lines, sought);
    });
  },

  // Where a sum of exponentials of lines has this logarithm, by Newton's method from above.
  solved(lines, sought) {
    let z = Infinity;
    for (const [start, slope] of lines) z = Math.min(z, sought / slope - start / slope);
    if (lines.length === 1) return z;
    for (let i = 0; i < 12; i += 1) {
      let most = -Infinity;
      for (const [start, slope] of lines) most = Math.max(most, start + slope * z);
      let [sum, slopes] = [0, 0];
      for (const [start, slope] of lines) {
        const part = Math.exp(start + slope * z - most);
        sum += part;
        slopes += part * slope;
      }
      const moved = ((most + Math.log(sum) - sought) * sum) / slopes;
      z -= moved;
      if (Math.abs(moved) < 1e-14) break;
    }
    return z;
  },

  // Masses of a mixture between neighbouring z, and beyond the last.
  between(z, mixture) {
    const masses = new Float64Array(z.length - 1);
    let lastBelow = 0;
    let lastAbove = 0;
    for (let i = 0; i < z.length; i += 1) {
      let [below, above] = [0, 0];
      for (const [weight, place] of mixture) {
        const tail = game.upperTail(Math.abs(z[i] - place));
        below += weight * (z[i] < place ? tail : 1 - tail);
        above += weight * (z[i] < place ? 1 - tail : tail);
      }
      if (i) masses[i - 1] = below < 0.5 ? below - lastBelow : lastAbove - above;
      lastBelow = below;
      lastAbove = above;
    }
    return { masses, beyond: lastAbove };
  },

  // A sum without the rounding of its terms (Kahan): every step multiplies what is lost.
  total(values) {
    let [sum, lost] = [0, 0];
    for (const value of values) {
      const next = sum + (value - lost);
      lost = next - sum - (value - lost);
      sum = next;
    }
    return sum;
  },

  oneStep(pair, spacing, { top, bottom }) {
    const { kind } = pair;
    const twoSided = losses.isTwoSided(pair);
    const mixture = losses.mixture(pair);
    const first = twoSided ? 0 : Math.floor(bottom / spacing);
    const last = Math.ceil(top / spacing);
    const edges = new Float64Array(last - first + 1).map((_, i) => (first + i) * spacing);
    const z = losses.observations(pair, edges);
    const lowest = z[0];
    if (!twoSided) z[0] = -Infinity;
    const { masses: member, beyond: infinite } = losses.between(z, mixture);
    const { masses: other } = losses.between(z, kind === "exchanged" ? mixture.map(([weight, place]) => [weight, -place]) : losses.none);
    const mass = new Float64Array(edges.length);
    const scale = -Math.expm1(-spacing);
    for (let i = 0; i < member.length; i += 1) {
      const share = (member[i] - other[i] * Math.exp(edges[i])) / scale;
      const upper = Math.min(Math.max(share, 0), member[i]);
      mass[i] += member[i] - upper;
      mass[i + 1] += upper;
    }
    if (kind === "joined") return { first, mass, spacing, infinite };
    const mirrored = mass.map((one, i) => one * Math.exp(-edges[i])).reverse();
    if (kind === "left") {
      mirrored[0] += game.upperTail(z[z.length - 1]);
      return { first: -last, mass: mirrored, spacing, infinite: game.upperTail(-lowest) };
    }
    const both = new Float64Array(2 * mass.length - 1);
    both.set(mirrored);
    both.set(mass, mass.length - 1);
    both[mass.length - 1] = 0;
    both[mass.length - 1] = Math.max(1 - losses.total(both) - infinite, 0);
    return { first: -last, mass: both, spacing, infinite };
  },

  // The losses of a step and their masses, cell by cell of the observation.
  law(pair, far, share) {
    const { kind } = pair;
    const width = (losses.top(pair, share) + 3 + 2 * far) / losses.cells;
    const edges = new Float64Array(losses.cells + 1).map((_, i) => i * width - 3 - far);
    const loss = losses.loss(pair, new Float64Array(losses.cells).map((_, i) => (edges[i] + edges[i + 1]) / 2));
    const mass = losses.between(edges, losses.mixture(pair)).masses;
    if (kind === "joined" || kind === "exchanged") return { loss, mass };
    const none = losses.between(edges, losses.none).masses;
    if (kind === "left") return { loss: loss.map((one) => -one), mass: none };
    const from = loss.findIndex((one) => one > 0);
    const [above, own, other] = [loss.slice(from), mass.slice(from), none.slice(from)];
    const rest = 1 - own.reduce((a, b) => a + b, 0) - other.reduce((a, b) => a + b, 0);
    return {
      loss: Float64Array.from([...above.map((one) => -one), 0, ...above]),
      mass: Float64Array.from([...other, Math.max(rest, 0), ...own]),
    };
  },

  // The logarithm of the mean of exp(order loss).
  cumulant(law, order) {
    const { loss, mass } = law;
    law.log ??= mass.map(Math.log);
    let [most, sum] = [-Infinity, 0];
    for (let i = 0; i < loss.length; i += 1) most = Math.max(most, law.log[i] + order * loss[i]);
    for (let i = 0; i < loss.length; i += 1) sum += Math.exp(law.log[i] + order * loss[i] - most);
    return most + Math.log(sum);
  },

  // That of all steps, with more for each.
  cumulants: (laws, order, more = 0) => laws.reduce((sum, { law, steps }) => sum + steps * (losses.cumulant(law, order) + more), 0),

  tilts: Array.from({ length: 58 }, (_, i) => 2 ** (i / 2 - 4)),

  // The order at which Chernoff's bound on the loss above all but `tail` is least.
  order(laws, tail) {
    let [least, best] = [Infinity, 0];
    for (const order of losses.tilts) {
      const bound = (losses.cumulants(laws, order) - Math.log(tail)) / order;
      if (bound < least) [least, best] = [bound, order];
    }
    return best;
  },

  // Bounds that the sum leaves with negligible probability, tilted or not (Chernoff).
  reach(laws, tilt, least, spacing) {
    const lost = Math.log(1e-13);
    const own = tilt ? losses.cumulants(laws, tilt) : 0;
    let [up, round, down] = [Infinity, Infinity, Infinity];
    for (let i = -4; i < 13; i += 1) {
      const [order, moved] = [4 ** i, tilt + 4 ** i];
      const log = losses.cumulants(laws, moved, ((moved + moved ** 2) * spacing ** 2) / 8);
      up = Math.min(up, (log - least) / moved);
      round = Math.min(round, (log - own - lost) / order);
      down = Math.min(down, (losses.cumulants(laws, tilt - order) - own - lost) / order);
    }
    up = Math.max(up, round);
    const margin = 0.01 * (up + down);
    return { low: -down - margin, high: up + margin };
  },

  // The losses of all steps of some pairs; with a tail, those that are larger than all but that share.
  compose(parts, size, tail = null) {
    const all = parts.reduce((sum, { steps }) => sum + steps, 0);
    const lost = tail === null ? 1e-12 : 1e-3 * tail;
    const far = tail === null ? 9 : Math.max(9, game.thresholdAt(lost / all));
    const ends = parts.map(({ pair }) => losses.ends(pair, far, lost / all));
    const finest = Math.max(...ends.map(({ top, bottom }) => top - bottom)) / Math.min(4 * size, losses.most);
    const laws = parts.map(({ pair, steps }) => ({ law: losses.law(pair, far, lost / all), steps }));
    const tilt = tail === null ? 0 : Math.min(losses.order(laws, tail), 1 / finest);
    const least = Math.log(1e-13) + (tilt ? Math.log(tail) : 0);
    const found = losses.reach(laws, tilt, least, 0);
    const spacing = Math.max((found.high - found.low) / size, finest);
    const { high } = losses.reach(laws, tilt, least, spacing);
    if (spacing > losses.widest) return { first: 0, mass: new Float64Array(1), spacing, infinite: 1 };
    let [start, kept, scale, spectrum] = [0, 0, 0, null];
    parts.forEach(({ pair, steps }, i) => {
      const one = losses.oneStep(pair, spacing, ends[i]);
      const tilted = losses.spectrum(one, size, tilt);
      spectrum = losses.times(spectrum, tilted.spectrum, steps, size);
      start += steps * one.first;
      kept += steps * Math.log1p(-one.infinite);
      scale += steps * tilted.scale;
    });
    const { real, imaginary } = losses.conjugate(spectrum, size);
    losses.transform(real, imaginary);
    const first = Math.ceil(high / spacing) - size;
    const mass = new Float64Array(size);
    const whole = losses.total(real) / (tilt ? 1 : Math.exp(kept));
    for (let i = 0; i < size; i += 1) {
      mass[i] = Math.max(real[(((first - start + i) % size) + size) % size] / whole, 0);
      if (tilt) mass[i] *= Math.exp(Math.min(scale - tilt * (first + i) * spacing, 700));
    }
    return { first, mass, spacing, infinite: -Math.expm1(kept) + lost };
  },

  // The transform of a step, and the logarithm of what tilting it took.
  spectrum({ first, mass, spacing }, size, tilt) {
    const loss = (i) => (first + i) * spacing;
    const scale = tilt ? losses.cumulant({ loss: mass.map((_, i) => loss(i)), mass }, tilt) : 0;
    const [real, imaginary] = [new Float64Array(size), new Float64Array(size)];
    for (let i = 0; i < mass.length; i += 1) real[i % size] += tilt ? mass[i] * Math.exp(tilt * loss(i) - scale) : mass[i];
    losses.transform(real, imaginary);
    return { spectrum: { real, imaginary }, scale };
  },

  // A product of powers as logarithms of lengths, and angles: what was real at first has its second
  // half the conjugate of its first.
  times(product, { real, imaginary }, steps, size) {
    const found = product ?? { length: new Float64Array(size / 2 + 1), angle: new Float64Array(size / 2 + 1) };
    for (let i = 0; i <= size / 2; i += 1) {
      found.length[i] += (Math.log(real[i] * real[i] + imaginary[i] * imaginary[i]) * steps) / 2;
      found.angle[i] += Math.atan2(imaginary[i], real[i]) * steps;
    }
    return found;
  },

  // Its conjugate, whose transform is the inverse one.
  conjugate({ length, angle }, size) {
    const [real, imaginary] = [new Float64Array(size), new Float64Array(size)];
    for (let i = 0; i <= size / 2; i += 1) {
      const long = Math.exp(length[i]);
      real[i] = long * Math.cos(angle[i]);
      imaginary[i] = -long * Math.sin(angle[i]);
      real[(size - i) % size] = real[i];
      if (i) imaginary[size - i] = -imaginary[i];
    }
    return { real, imaginary };
  },

  // Cosines and sines of the turns of a transform of this size, and its order of bits reversed.
  turns(size) {
    if (losses.known?.size === size) return losses.known;
    const turn = Float64Array.from({ length: size / 2 }, (_, i) => (-2 * Math.PI * i) / size);
    const order = new Uint32Array(size);
    for (let i = 1; i < size; i += 1) order[i] = (order[i >> 1] >> 1) | (i & 1 ? size >> 1 : 0);
    losses.known = { size, order, cosine: turn.map(Math.cos), sine: turn.map(Math.sin) };
    return losses.known;
  },

  // Fast Fourier transform in place; the length is a power of 2.
  transform(real, imaginary) {
    const size = real.length;
    const { order, cosine, sine } = losses.turns(size);
    for (const part of [real, imaginary]) {
      const before = part.slice();
      for (let i = 0; i < size; i += 1) part[i] = before[order[i]];
    }
    for (let half = 1; half < size; half *= 2) {
      const stride = size / (2 * half);
      for (let from = 0; from < size; from += 2 * half) {
        for (let a = from, at = 0; a < from + half; a += 1, at += stride) {
          const b = a + half;
          const x = real[b] * cosine[at] - imaginary[b] * sine[at];
          const y = real[b] * sine[at] + imaginary[b] * cosine[at];
          real[b] = real[a] - x;
          imaginary[b] = imaginary[a] - y;
          real[a] += x;
          imaginary[a] += y;
        }
      }
    }
  },

  // The TPR of the best test at each FPR, in rising order.
  tpr({ first, mass, spacing, infinite }, rates) {
    let [rate, power, i] = [0, infinite, mass.length - 1];
    let [lastRate, lastPower] = [rate, power];
    return rates.map((alpha) => {
      if (alpha <= 0 || alpha >= 1) return alpha <= 0 ? 0 : 1;
      while (rate < alpha && i >= 0) {
        [lastRate, lastPower] = [rate, power];
        rate += mass[i] * Math.exp(-Math.max((first + i) * spacing, -700));
        power += mass[i];
        i -= 1;
      }
      const share = rate > alpha && rate > lastRate ? (alpha - lastRate) / (rate - lastRate) : 1;
      return Math.min(lastPower + share * (power - lastPower), 1);
    });
  },

  // The most that one distribution's share of a set exceeds exp(epsilon) times the other's by.
  delta({ first, mass, spacing, infinite }, epsilon) {
    let found = 0;
    for (let i = mass.length - 1; i >= 0 && (first + i) * spacing > epsilon; i -= 1) found -= mass[i] * Math.expm1(epsilon - (first + i) * spacing);
    return Math.min(infinite + found, 1);
  },

  // The area under the ROC curve of the best test.
  auc({ first, mass, spacing, infinite }) {
    let [rate, power, area] = [0, Math.min(infinite, 1), 0];
    let [rates, powers] = [0, infinite];
    for (let i = mass.length - 1; i >= 0 && rate < 1; i -= 1) {
      rates += mass[i] * Math.exp(-Math.max((first + i) * spacing, -700));
      powers += mass[i];
      const [next, found] = [Math.min(rates, 1), Math.min(powers, 1)];
      area += ((next - rate) * (power + found)) / 2;
      [rate, power] = [next, found];
    }
    return area + 1 - rate;
  },

  // Chernoff's bound on a delta.
  tailOf(parts, epsilon) {
    const laws = parts.map(({ pair, steps }) => ({ law: losses.law(pair, 9, 1e-12), steps }));
    return Math.exp(Math.min(0, ...losses.tilts.map((order) => losses.cumulants(laws, order) - order * epsilon)));
  },

  epsilon({ first, mass, spacing, infinite }, delta, largest) {
    const [step, share] = [Math.exp(-spacing), -Math.expm1(-spacing)];
    // At each loss: delta, and what the other distribution has above it, in units of that loss.
    let [grown, other, found] = [infinite, 0, Infinity];
    for (let i = mass.length - 1; i >= 0; i -= 1) {
      const value = (first + i) * spacing;
      if (value <= 0) break;
      if (value >= largest) {
        grown += mass[i];
        continue;
      }
      grown += share * other;
      other = mass[i] + step * other;
      if (grown > delta) break;
      const moved = other && (i || first <= 0) ? Math.log1p(Math.max((grown - delta) / other, -share)) : 0;
      found = Math.max(value + moved, 0);
    }
    return found;
  },
};

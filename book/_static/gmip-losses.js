// Composition without a limit theorem: membership.privacy.numerical in JavaScript.
"use strict";

const losses = {
  cells: 2 ** 13,
  most: 2 ** 22,
  widest: 0.5,

  log1pexp: (a, b) => Math.max(a, b) + Math.log1p(Math.exp(-Math.abs(a - b))),

  loss({ kind, mu, p }, z) {
    const [stays, drawn] = [Math.log1p(-p), Math.log(p) - (mu * mu) / 2];
    const sum = (x) => (stays === -Infinity ? x : losses.log1pexp(stays, x));
    return kind === "exchanged" ? sum(drawn + mu * z) - sum(drawn - mu * z) : sum(drawn + mu * z);
  },

  ends(pair, far) {
    const top = losses.loss(pair, pair.mu + far);
    const twoSided = pair.kind === "exchanged" || pair.kind === "either";
    return { top, bottom: twoSided ? -top : losses.loss(pair, -3 - far), twoSided };
  },

  // The z at which a loss lies.
  observation({ kind, mu, p }, loss) {
    if (kind === "exchanged") {
      const half = ((1 - p) * Math.expm1(loss)) / 2;
      const drawn = p * Math.exp((-mu * mu) / 2);
      return Math.log((half + Math.hypot(half, drawn * Math.exp(loss / 2))) / drawn) / mu;
    }
    const z = loss < -0.5 ? Math.log((Math.exp(loss) - (1 - p)) / p) : Math.log1p(Math.expm1(loss) / p);
    return Number.isNaN(z) ? -Infinity : z / mu + mu / 2;
  },

  // Masses of the mixture (1 - p) N(0, 1) + p N(mu, 1) between neighbouring z.
  between(z, mu, p) {
    const masses = new Float64Array(z.length - 1);
    let lastBelow = 0;
    let lastAbove = 0;
    for (let i = 0; i < z.length; i += 1) {
      const still = game.upperTail(Math.abs(z[i]));
      const moved = p ? game.upperTail(Math.abs(z[i] - mu)) : 0;
      const below = (1 - p) * (z[i] < 0 ? still : 1 - still) + p * (z[i] < mu ? moved : 1 - moved);
      const above = (1 - p) * (z[i] < 0 ? 1 - still : still) + p * (z[i] < mu ? 1 - moved : moved);
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

  oneStep(pair, spacing, { top, bottom, twoSided }) {
    const { kind, mu, p } = pair;
    const first = twoSided ? 0 : Math.floor(bottom / spacing);
    const last = Math.ceil(top / spacing);
    const edges = new Float64Array(last - first + 1).map((_, i) => (first + i) * spacing);
    const z = edges.map((edge) => losses.observation(pair, edge));
    const lowest = z[0];
    if (!twoSided) z[0] = -Infinity;
    const { masses: member, beyond: infinite } = losses.between(z, mu, p);
    const { masses: other } = losses.between(z, -mu, kind === "exchanged" ? p : 0);
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
  law(pair, far) {
    const { kind, mu, p } = pair;
    const width = (mu + 3 + 2 * far) / losses.cells;
    const edges = new Float64Array(losses.cells + 1).map((_, i) => i * width - 3 - far);
    const loss = new Float64Array(losses.cells).map((_, i) => losses.loss(pair, (edges[i] + edges[i + 1]) / 2));
    const mass = losses.between(edges, mu, p).masses;
    if (kind === "joined" || kind === "exchanged") return { loss, mass };
    const none = losses.between(edges, 0, 0).masses;
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
  cumulant({ loss, mass }, order) {
    const exponents = mass.map((one, i) => Math.log(one) + order * loss[i]);
    const most = exponents.reduce((a, b) => Math.max(a, b), -Infinity);
    return most + Math.log(exponents.reduce((sum, one) => sum + Math.exp(one - most), 0));
  },

  // The order at which Chernoff's bound on the loss above all but `tail` is least.
  order(law, steps, tail) {
    let [least, best] = [Infinity, 0];
    for (let i = 0; i < 58; i += 1) {
      const order = 2 ** (i / 2 - 4);
      const bound = (steps * losses.cumulant(law, order) - Math.log(tail)) / order;
      if (bound < least) [least, best] = [bound, order];
    }
    return best;
  },

  // Bounds that the sum leaves with negligible probability (Chernoff).
  reach(law, steps, tilt, least, spacing) {
    const own = tilt ? losses.cumulant(law, tilt) : 0;
    let [up, down] = [Infinity, Infinity];
    for (let i = -4; i < 13; i += 1) {
      const [order, moved] = [4 ** i, tilt + 4 ** i];
      const rounding = ((moved + moved ** 2) * spacing ** 2) / 8;
      up = Math.min(up, (steps * (losses.cumulant(law, moved) + rounding) - least) / moved);
      down = Math.min(down, (steps * (losses.cumulant(law, tilt - order) - own) - Math.log(1e-13)) / order);
    }
    const margin = 0.01 * (up + down);
    return { low: -down - margin, high: up + margin };
  },

  // The losses of all steps; with a tail, those that are larger than all but that share.
  compose(pair, steps, size, tail = null) {
    const lost = tail === null ? 1e-12 : 1e-3 * tail;
    const far = tail === null ? 9 : Math.max(9, game.thresholdAt(lost / steps));
    const ends = losses.ends(pair, far);
    const finest = (ends.top - ends.bottom) / Math.min(4 * size, losses.most);
    const law = losses.law(pair, far);
    const tilt = tail === null ? 0 : Math.min(losses.order(law, steps, tail), 1 / finest);
    const least = Math.log(1e-13) + (tilt ? Math.log(tail) : 0);
    const found = losses.reach(law, steps, tilt, least, 0);
    const spacing = Math.max((found.high - found.low) / size, finest);
    const { high } = losses.reach(law, steps, tilt, least, spacing);
    if (spacing > losses.widest) return { first: 0, mass: new Float64Array(1), spacing, infinite: 1 };
    const one = losses.oneStep(pair, spacing, ends);
    const loss = (i, first) => (first + i) * spacing;
    const scale = tilt ? losses.cumulant({ loss: one.mass.map((_, i) => loss(i, one.first)), mass: one.mass }, tilt) : 0;
    const [real, imaginary] = [new Float64Array(size), new Float64Array(size)];
    for (let i = 0; i < one.mass.length; i += 1) {
      real[i % size] += tilt ? one.mass[i] * Math.exp(tilt * loss(i, one.first) - scale) : one.mass[i];
    }
    losses.transform(real, imaginary);
    // To the power of the steps, as its conjugate, whose transform is the inverse one; what was
    // real at first has its second half the conjugate of its first.
    for (let i = 0; i <= size / 2; i += 1) {
      const length = (real[i] * real[i] + imaginary[i] * imaginary[i]) ** (steps / 2);
      const angle = -Math.atan2(imaginary[i], real[i]) * steps;
      real[i] = length * Math.cos(angle);
      imaginary[i] = length * Math.sin(angle);
      real[(size - i) % size] = real[i];
      if (i) imaginary[size - i] = -imaginary[i];
    }
    losses.transform(real, imaginary);
    const first = Math.ceil(high / spacing) - size;
    const shift = first - steps * one.first;
    const mass = new Float64Array(size);
    const whole = losses.total(real) / (tilt ? 1 : Math.exp(steps * Math.log1p(-one.infinite)));
    for (let i = 0; i < size; i += 1) {
      mass[i] = Math.max(real[(((shift + i) % size) + size) % size] / whole, 0);
      if (tilt) mass[i] *= Math.exp(Math.min(steps * scale - tilt * loss(i, first), 700));
    }
    return { first, mass, spacing, infinite: -Math.expm1(steps * Math.log1p(-one.infinite)) + lost };
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

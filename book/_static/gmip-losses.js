// Composition without a limit theorem: membership.privacy.numerical in JavaScript.
"use strict";

const losses = {
  log1pexp: (a, b) => Math.max(a, b) + Math.log1p(Math.exp(-Math.abs(a - b))),

  loss({ kind, mu, p }, z) {
    const [stays, drawn] = [Math.log1p(-p), Math.log(p) - (mu * mu) / 2];
    const sum = (x) => (stays === -Infinity ? x : losses.log1pexp(stays, x));
    return kind === "exchanged" ? sum(drawn + mu * z) - sum(drawn - mu * z) : sum(drawn + mu * z);
  },

  ends(pair) {
    const top = losses.loss(pair, pair.mu + 9);
    const twoSided = pair.kind === "exchanged" || pair.kind === "either";
    return { top, bottom: twoSided ? -top : losses.loss(pair, -12), twoSided };
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

  oneStep(pair, spacing, most) {
    const { kind, mu, p } = pair;
    const { top, bottom, twoSided } = losses.ends(pair);
    const first = twoSided ? 0 : Math.max(Math.floor(bottom / spacing), -most);
    const last = Math.min(Math.ceil(top / spacing), most);
    const edges = new Float64Array(last - first + 1).map((_, i) => (first + i) * spacing);
    const z = edges.map((edge) => losses.observation(pair, edge));
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
    const total = (values) => values.reduce((a, b) => a + b, 0);
    const mirrored = mass.map((one, i) => one * Math.exp(-edges[i])).reverse();
    if (kind === "left") return { first: -last, mass: mirrored, spacing, infinite: Math.max(1 - total(mirrored), 0) };
    const both = new Float64Array(2 * mass.length - 1);
    both.set(mirrored);
    both.set(mass, mass.length - 1);
    both[mass.length - 1] = 0;
    both[mass.length - 1] = 1 - total(both) - infinite;
    return { first: -last, mass: both, spacing, infinite };
  },

  // Bounds that the sum leaves with negligible probability (Chernoff).
  reach({ first, mass, spacing }, steps) {
    const weight = mass.map(Math.log);
    const exponents = new Float64Array(mass.length);
    const bound = (order) => {
      let [most, sum] = [-Infinity, 0];
      for (let i = 0; i < mass.length; i += 1) {
        exponents[i] = weight[i] + order * (first + i) * spacing;
        if (exponents[i] > most) most = exponents[i];
      }
      for (const one of exponents) if (one > most - 50) sum += Math.exp(one - most);
      return (steps * (most + Math.log(sum)) - Math.log(1e-13)) / Math.abs(order);
    };
    const orders = Array.from({ length: 14 }, (_, i) => 4 ** (i - 1));
    const up = Math.min(...orders.map(bound));
    const down = Math.min(...orders.map((order) => bound(-order)));
    const margin = 0.01 * (up + down);
    return { low: -down - margin, high: up + margin };
  },

  compose(pair, steps, size) {
    const { top, bottom } = losses.ends(pair);
    const coarse = losses.oneStep(pair, (top - bottom) / gmip.coarse, gmip.coarse);
    const { low, high } = losses.reach(coarse, steps);
    const spacing = (high - low) / size;
    const one = losses.oneStep(pair, spacing, size);
    const [real, imaginary] = [new Float64Array(size), new Float64Array(size)];
    one.mass.forEach((mass, i) => {
      real[i % size] += mass;
    });
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
    const start = Math.floor(low / spacing);
    const shift = start - steps * one.first;
    const mass = new Float64Array(size);
    for (let i = 0; i < size; i += 1) mass[i] = Math.max(real[(((shift + i) % size) + size) % size] / size, 0);
    return { first: start, mass, spacing, infinite: -Math.expm1(steps * Math.log1p(-one.infinite)) + 1e-12 };
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
    let [above, other, found] = [infinite, 0, Infinity];
    for (let i = mass.length - 1; i >= 0; i -= 1) {
      const value = (first + i) * spacing;
      if (value <= 0) break;
      above += mass[i];
      if (value >= largest) continue;
      other += mass[i] * Math.exp(-value);
      if (above - Math.exp(value) * other > delta) break;
      found = Math.max(Math.log(Math.max(above - delta, 1e-300) / other), 0);
    }
    return found;
  },
};

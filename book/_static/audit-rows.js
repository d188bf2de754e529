// Which rows of a table are trials: membership.audit.rows in JavaScript.
"use strict";

const rowsOf = {
  // Every record once, those of a unit together, and what was said of them on the way.
  settled({ score, member, group, record, unit, ...others }, unread) {
    let kept = { score, member, group, record, unit };
    const noted = unread.flatMap(([name, values]) => rowsOf.identities(name, values, member));
    if (others.named && !unit) {
      const [once, notes] = rowsOf.once(kept);
      kept = once;
      noted.push(...notes);
    }
    if (group && !unit) noted.push(...rowsOf.identities("group", group, member));
    if (unit) kept = rowsOf.byUnit(kept);
    const units = unit ? { records: score.length, units: kept.score.length } : null;
    return { ...others, ...kept, units, noted: [...new Set(noted)] };
  },

  shown(name) {
    const letters = [...name.trim().replace(/\s+/g, " ")];
    return letters.length <= 40 ? letters.join("") : `${letters.slice(0, 40).join("")}...`;
  },

  // The places of each name, by the names in their order.
  places(names) {
    const found = new Map();
    names.forEach((name, i) => (found.has(name) ? found.get(name).push(i) : found.set(name, [i])));
    return [...found].sort(([a], [b]) => (a < b ? -1 : 1));
  },

  at(rows, places) {
    return Object.fromEntries(Object.entries(rows).map(([name, column]) => [name, column && places.map((i) => column[i])]));
  },

  // Each record once: of rows that say the same one counts, of others none.
  once(rows) {
    const places = rowsOf.places(rows.record);
    const several = places.filter(([, at]) => at.length > 1);
    if (!several.length) return [rows, []];
    const given = [rows.score, rows.member, rows.group].filter(Boolean);
    const differs = ([, at]) => given.some((column) => at.some((i) => column[i] !== column[at[0]]));
    const most = several.reduce((a, b) => (b[1].length > a[1].length ? b : a));
    const name = rowsOf.shown(most[0]);
    const size = rows.score.length;
    const apart = several.filter(differs).reduce((sum, [, at]) => sum + at.length, 0);
    if (2 * apart > size)
      throw new Error(
        `record: ${apart} of ${size} rows share their record's name (${name}, for example) and say something else; name each record once, and give whose records belong together as \`unit\`.`,
      );
    const kept = places.filter((one) => !differs(one)).map(([, at]) => at[0]);
    kept.sort((a, b) => a - b);
    const note = `${several.length === 1 ? "1 record occurs" : `${several.length} records occur`} more than once (${name}, for example). Rows that say the same count once, and a record whose rows differ is left out: ${size - kept.length} of ${size} rows are not counted.`;
    return [rowsOf.at(rows, kept), [note]];
  },

  // A row a unit: the mean score of its records.
  byUnit({ score, member, group, unit }) {
    const places = rowsOf.places(unit);
    const inside = places.map(([, at]) => at.filter((i) => member[i]).length);
    const mixed = places.map((_, k) => k).filter((k) => inside[k] > 0 && inside[k] < places[k][1].length);
    if (mixed.length) {
      const [name, at] = places[mixed[0]];
      throw new Error(
        `unit: ${rowsOf.shown(name)} holds ${inside[mixed[0]]} members and ${at.length - inside[mixed[0]]} others, and so do ${mixed.length} of ${places.length} units; a unit is in or out whole, so give units inside which memberships are the same.`,
      );
    }
    const mean = (at) => at.map((i) => score[i] / at.length).sort((a, b) => a - b).reduce((sum, one) => sum + one, 0);
    const shared = (at) => (at.every((i) => group[i] === group[at[0]]) ? group[at[0]] : "several");
    const names = places.map(([name]) => name);
    return {
      score: places.map(([, at]) => mean(at)),
      member: places.map(([, at]) => member[at[0]]),
      group: group && places.map(([, at]) => shared(at)),
      record: names,
      unit: names,
    };
  },

  // What is said of a column whose values of several rows are in or out whole beyond chance.
  identities(name, values, member) {
    const several = rowsOf.places(values).map(([, at]) => at).filter((at) => at.length > 1);
    if (several.length < 10) return [];
    const found = several.filter((at) => at.every((i) => member[i] === member[at[0]])).length;
    const share = member.filter(Boolean).length / member.length;
    const chance = several.map((at) => share ** at.length + (1 - share) ** at.length);
    const sum = (terms) => terms.reduce((total, one) => total + one, 0);
    if (found <= sum(chance) + 1 + 5 * Math.sqrt(sum(chance.map((p) => p * (1 - p))))) return [];
    return [
      `${found} of the ${several.length} names in the column ${rowsOf.shown(name)} that stand in several rows are members in all of them or in none. Memberships were then not drawn record by record, and intervals and bounds are too narrow: if it says whose record this is, give it as \`unit\`.`,
    ];
  },
};

// The search of this site, under the name of Sphinx's own and so in its place: it finds sections,
// terms, functions, exhibits and claims, and takes the excerpts from the index, without a request.
// Stemmer and stopwords are Sphinx's (language_data.js); SYNONYMS and FOUND come from searchindex.js.
"use strict";

const MOST = 30;
const FILLERS = ["can", "do", "does", "how", "i", "my", "what", "your"];
const WORDS = /[\p{L}\p{N}]+/gu;
// A page is looked for more often than one of its parts, and the reference by its names.
const WEIGHTS = { page: 1.5, term: 1.3, exhibit: 1, section: 1, claim: 0.6, reference: 0.6 };

const Search = {
  stems: new Map(),
  stemmer: null,
  synonyms: new Map(),
  entries: [],

  stem(word) {
    const lower = word.toLowerCase();
    if (!this.stems.has(lower)) this.stems.set(lower, this.stemmer.stemWord(lower));
    return this.stems.get(lower);
  },

  // The stems of a text between blanks, so that " a b " is found as a phrase.
  spell(text) {
    return ` ${(text.match(WORDS) ?? []).map((word) => this.stem(word)).join(" ")} `;
  },

  load() {
    this.stemmer = new Stemmer();
    for (const [asked, meant] of Object.entries(SYNONYMS)) {
      this.synonyms.set(this.spell(asked), meant.map((one) => this.spell(one)));
    }
    this.entries = FOUND.map(([kind, link, title, where, text]) => ({
      ...{ kind, link, title, where, text },
      named: this.spell(title),
      id: this.spell(link.split("#")[1] ?? ""),
      placed: this.spell(`${where} ${link}`),
      body: this.spell(text),
    }));
  },

  // A query as things that must all be found, each under any of its names.
  parse(query) {
    const words = query.match(WORDS) ?? [];
    const silent = [...stopwords, ...FILLERS];
    const telling = words.filter((word) => !silent.includes(word.toLowerCase()));
    const stems = (telling.length ? telling : words).map((word) => this.stem(word));
    const asked = [];
    while (stems.length) {
      let taken = Math.min(3, stems.length);
      const phrase = () => ` ${stems.slice(0, taken).join(" ")} `;
      while (taken > 1 && !this.synonyms.has(phrase())) taken -= 1;
      asked.push([phrase(), ...(this.synonyms.get(phrase()) ?? [])]);
      stems.splice(0, taken);
    }
    return asked;
  },

  // How well an entry fits one name: best in its title, less in its text, least as a beginning.
  fit(entry, name) {
    const count = (text) => text.split(name).length - 1;
    const size = (text) => text.split(" ").length - 2;
    let found = 0;
    if (entry.named.includes(name)) found += 10 * Math.sqrt(size(name) / size(entry.named));
    if (entry.placed.includes(name)) found += 3;
    found += Math.log2(1 + count(entry.body));
    const start = name.trimEnd();
    if (!found && start.length > 3 && `${entry.named}${entry.body}`.includes(start)) found = 0.3;
    return found;
  },

  score(entry, asked, whole) {
    let sum = entry.named === whole || entry.id === whole ? 100 : 0;
    for (const [own, ...others] of asked) {
      const other = Math.max(0, ...others.map((name) => this.fit(entry, name)));
      const best = this.fit(entry, own) + 0.6 * other;
      if (!best) return 0;
      sum += best;
    }
    if (asked.length > 1) sum += 2 * this.fit(entry, whole);
    return sum * WEIGHTS[entry.kind];
  },

  // What has everything that is asked for; where nothing has, what has any of it.
  find(query) {
    const asked = this.parse(query);
    const whole = this.spell(query);
    const ranked = (score) =>
      this.entries
        .map((entry) => ({ entry, score: score(entry) }))
        .filter((one) => one.score > 0)
        .sort((a, b) => b.score - a.score)
        .map((one) => one.entry);
    if (!asked.length) return [];
    const all = ranked((entry) => this.score(entry, asked, whole));
    if (all.length || asked.length === 1) return all;
    return ranked((entry) =>
      asked.reduce((sum, one) => sum + this.score(entry, [one], whole), 0),
    );
  },

  // The words of a text with their places, and which of them are among what was asked for.
  marked(text, asked) {
    const words = [...text.matchAll(WORDS)].map((match) => ({
      from: match.index,
      to: match.index + match[0].length,
      stem: this.stem(match[0]),
    }));
    for (const name of asked.flat()) {
      const stems = name.trim().split(" ");
      if (name.trim().length < 2) continue;
      words.forEach((word, i) => {
        if (!stems.every((stem, k) => words[i + k]?.stem === stem)) return;
        for (const hit of words.slice(i, i + stems.length)) hit.hit = true;
      });
    }
    return words;
  },

  // Some words of a text, from shortly before the first that was asked for.
  excerpt(text, asked) {
    const line = document.createElement("p");
    const words = this.marked(text, asked);
    const first = words.findIndex((word) => word.hit);
    const start = first < 30 ? 0 : first - 12;
    const shown = words.slice(start, start + 45);
    const whole = start + 45 >= words.length;
    if (start) line.append("… ");
    let at = start ? shown[0].from : 0;
    for (const { from, to } of shown.filter((word) => word.hit)) {
      const mark = document.createElement("mark");
      mark.textContent = text.slice(from, to);
      line.append(text.slice(at, from), mark);
      at = to;
    }
    line.append(text.slice(at, whole ? text.length : shown.at(-1).to), whole ? "" : " …");
    return line;
  },

  item({ kind, link, title, where, text }, asked) {
    const anchor = document.createElement("a");
    anchor.href = link;
    anchor.textContent = title;
    const place = document.createElement("small");
    place.textContent = title === where ? kind : `${kind}, ${where}`;
    const item = document.createElement("li");
    item.append(anchor, " ", place, this.excerpt(text, asked));
    return item;
  },

  show(query, status, list) {
    const asked = this.parse(query);
    const found = this.find(query);
    const told = `${found.length} found${found.length > MOST ? `, the first ${MOST} shown` : ""}.`;
    status.textContent = found.length || !query.trim() ? told : `Nothing found for “${query}”.`;
    status.hidden = !query.trim();
    list.replaceChildren(...found.slice(0, MOST).map((entry) => this.item(entry, asked)));
  },
};

document.addEventListener("DOMContentLoaded", () => {
  const results = document.getElementById("search-results");
  const field = document.querySelector('.bd-search-container input[name="q"]');
  if (!results || !field) return;
  const status = document.createElement("p");
  status.setAttribute("role", "status");
  const list = document.createElement("ol");
  results.append(status, list);
  Search.load();
  const show = () => Search.show(field.value, status, list);
  field.value = new URLSearchParams(location.search).get("q") ?? "";
  field.addEventListener("input", show);
  show();
});

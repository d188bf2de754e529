// The order of what Sphinx's search finds, in the place of Sphinx's own (html_search_scorer): first
// what has the id that was typed, then what stands under these very words. Numbers as in Sphinx.

// A browser refuses to fetch excerpts of pages that it has from disk.
DOCUMENTATION_OPTIONS.SHOW_SEARCH_SUMMARY = location.protocol !== "file:";
// Words of a question: dropped, unless nothing else was typed.
const ASKED = new Set(
  "a an are can do does for from have how i in is it me my of should the this to use what when where which who why you your".split(" "),
);
const meant = (query) => {
  const words = query.trim().split(/\s+/);
  return words.filter((word) => !ASKED.has(word.toLowerCase())).join(" ") || query;
};
const parse = Search._parseQuery;
Search._parseQuery = (query) => parse(meant(query));

const spelled = (text) => ` ${splitQuery(text.toLowerCase()).join(" ")} `;

var Scorer = {
  objNameMatch: 11,
  objPartialMatch: 6,
  objPrio: { 0: 15, 1: 5, 2: -5 },
  objPrioDefault: 0,
  title: 15,
  partialTitle: 7,
  term: 5,
  partialTerm: 2,

  score([, title, anchor, , score]) {
    const typed = spelled(meant(document.querySelector('.bd-search-container input[name="q"]').value));
    const named = spelled(title.replace(/<[^>]*>/g, ""));
    if (spelled(anchor) === typed) return score + 100;
    if (named.startsWith(typed)) return score + 30;
    if (named.includes(typed)) return score + 20;
    const words = typed.trim().split(" ");
    return words.every((word) => named.includes(` ${word} `)) ? score + 10 : score;
  },
};

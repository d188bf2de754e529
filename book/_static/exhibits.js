// Cards of exhibits: the runs become tabs, plots can be narrowed to some of their groups, long tables shown
// whole, and citations get a button that copies them. Without this script both runs stand under their headings.
"use strict";

function choose(tabs, chosen, focus) {
  for (const tab of tabs) {
    const selected = tab === chosen;
    tab.setAttribute("aria-selected", selected);
    tab.tabIndex = selected ? 0 : -1;
    document.getElementById(tab.getAttribute("aria-controls")).hidden = !selected;
  }
  if (focus) chosen.focus();
}

function makeTabs(card) {
  const runs = [...card.querySelectorAll(":scope > .exhibit-runs > .exhibit-run")];
  if (runs.length < 2) return;
  const list = document.createElement("div");
  list.className = "exhibit-tabs";
  list.setAttribute("role", "tablist");
  list.setAttribute("aria-label", "Runs");
  const tabs = runs.map((run, i) => {
    const name = run.querySelector(".exhibit-run-name");
    const tab = document.createElement("button");
    tab.type = "button";
    tab.id = `${card.id}-tab-${i}`;
    run.dataset.name = name.textContent.trim(); // printed, where there are no tabs
    tab.append(...name.childNodes);
    name.remove();
    tab.setAttribute("role", "tab");
    run.id = `${card.id}-run-${i}`;
    tab.setAttribute("aria-controls", run.id);
    run.setAttribute("role", "tabpanel");
    list.append(tab);
    return tab;
  });
  const steps = { ArrowRight: 1, ArrowLeft: -1 };
  list.addEventListener("keydown", (event) => {
    const at = tabs.indexOf(document.activeElement);
    if (at < 0 || !(event.key in steps)) return;
    event.preventDefault();
    choose(tabs, tabs[(at + steps[event.key] + tabs.length) % tabs.length], true);
  });
  for (const tab of tabs) tab.addEventListener("click", () => choose(tabs, tab, false));
  runs[0].before(list);
  choose(tabs, tabs[0], false);
}

function addCopy(entry) {
  const button = document.createElement("button");
  button.type = "button";
  button.className = "exhibit-copy";
  button.textContent = "Copy";
  button.addEventListener("click", async () => {
    await navigator.clipboard.writeText(entry.textContent);
    button.textContent = "Copied";
    setTimeout(() => (button.textContent = "Copy"), 2000);
  });
  entry.before(button);
}

// Of the groups of a card's plots (its data sets) those pressed are shown, or all.
function makeFilter(plots) {
  const name = (body) => body.querySelector(".forest-group")?.firstChild.textContent.trim();
  const groups = [...plots.querySelectorAll("tbody")].filter(name);
  const names = [...new Set(groups.map(name))];
  if (names.length < 2) return;
  const filter = document.createElement("div");
  filter.className = "forest-filter";
  filter.setAttribute("role", "group");
  filter.setAttribute("aria-label", "Show only");
  const buttons = names.map((group) => {
    const button = document.createElement("button");
    button.type = "button";
    button.setAttribute("aria-pressed", "false");
    button.textContent = group;
    return button;
  });
  filter.addEventListener("click", (event) => {
    const button = event.target.closest("button");
    if (!button) return;
    button.setAttribute("aria-pressed", button.getAttribute("aria-pressed") !== "true");
    const pressed = names.filter((_, i) => buttons[i].getAttribute("aria-pressed") === "true");
    groups.forEach((body) => (body.hidden = pressed.length > 0 && !pressed.includes(name(body))));
  });
  filter.append(...buttons);
  plots.querySelector(".forest-box").before(filter);
}

// What is longer than its box says how much there is, and shows all of it on request.
function makeWhole(box) {
  const rows = box.querySelectorAll("tbody tr:not(:has(th[scope='rowgroup']))").length;
  const button = document.createElement("button");
  button.type = "button";
  button.className = "exhibit-whole";
  button.hidden = true;
  const tell = () => {
    const whole = box.classList.contains("whole");
    button.setAttribute("aria-expanded", whole);
    button.textContent = whole ? "Show fewer rows" : `Show all ${rows} rows`;
    button.hidden = !whole && box.scrollHeight <= box.clientHeight + 1;
  };
  button.addEventListener("click", () => {
    box.classList.toggle("whole");
    tell();
  });
  box.after(button);
  new ResizeObserver(tell).observe(box); // also when a fold or a tab that holds it is opened
}

document.addEventListener("DOMContentLoaded", () => {
  document.querySelectorAll(".exhibit .exhibit-scroll").forEach(makeWhole);
  document.querySelectorAll(".exhibit").forEach(makeTabs);
  document.querySelectorAll(".forests").forEach(makeFilter);
  document.querySelectorAll(".exhibit-bibtex").forEach(addCopy);
});

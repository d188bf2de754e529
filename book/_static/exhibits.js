// Cards of exhibits: the runs become tabs, and citations get a button that copies them. Without this
// script both runs stand under their headings.
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
    tab.append(...name.childNodes);
    name.remove();
    tab.setAttribute("role", "tab");
    run.id = `${card.id}-run-${i}`;
    tab.setAttribute("aria-controls", run.id);
    run.setAttribute("role", "tabpanel");
    run.removeAttribute("aria-label");
    run.setAttribute("aria-labelledby", tab.id);
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

document.addEventListener("DOMContentLoaded", () => {
  document.querySelectorAll(".exhibit").forEach(makeTabs);
  document.querySelectorAll(".exhibit-bibtex").forEach(addCopy);
});

// The theme's fold buttons in the side bar have a picture and no name; a screen reader needs one.
"use strict";

document.addEventListener("DOMContentLoaded", () => {
  for (const summary of document.querySelectorAll(".bd-sidebar-primary summary")) {
    const page = summary.closest("li").querySelector("a").textContent.trim();
    summary.setAttribute("aria-label", `Pages under ${page}`);
  }
});

// Shows a widget alone on the screen, large enough to be read from the back of a lecture hall. Where a
// browser cannot (on an iPhone), or without this script, there is no button.
"use strict";

for (const button of document.querySelectorAll("button.full-screen")) {
  const widget = button.closest(".game");
  const large = () => document.fullscreenElement === widget;

  // What fits in so many pixels is enlarged to the screen: letters by CSS, drawings by their scripts.
  // game.css takes the scale only while the widget is full screen, so that it never outlasts the size.
  function fit() {
    const { width, height } = button.dataset;
    const scale = Math.max(1, Math.min(innerWidth / width, innerHeight / height));
    widget.style.setProperty("--scale-to-screen", scale.toFixed(3));
    button.textContent = large() ? "Leave full screen" : "Full screen";
    button.setAttribute("aria-label", `${button.textContent}: ${widget.getAttribute("aria-label")}`);
  }

  button.addEventListener("click", () => {
    if (large()) document.exitFullscreen();
    else widget.requestFullscreen().catch(() => { button.hidden = true; });
  });
  document.addEventListener("fullscreenchange", fit);
  addEventListener("resize", fit);
  button.hidden = !document.fullscreenEnabled;
  fit();
}

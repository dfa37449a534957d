"use strict";
// Draws the charts in the colours of the page, redraws them when the colours change, and filters the predictions.

const dark = matchMedia("(prefers-color-scheme: dark)");
const touch = matchMedia("(pointer: coarse)");
const charts = [];

// Returns the layout template that gives a chart the fonts and colours of the page.
function pageTemplate(traces) {
  const style = getComputedStyle(document.documentElement);
  const colour = (name) => style.getPropertyValue(name).trim();
  const axis = {
    gridcolor: colour("--line"),
    linecolor: colour("--line"),
    zeroline: false,
    tickfont: { size: 11 },
    title: { font: { size: 12 } },
  };
  const label = { bgcolor: colour("--card"), bordercolor: colour("--soft"), font: { color: colour("--ink"), size: 13 } };
  const clear = "rgba(0, 0, 0, 0)";
  const layout = {
    font: { color: colour("--ink"), family: getComputedStyle(document.body).fontFamily, size: 12 },
    hoverlabel: label,
    paper_bgcolor: clear,
    plot_bgcolor: traces[0].type === "heatmap" ? colour("--gap") : clear, // the colour of cells without a value
    xaxis: axis,
    yaxis: axis,
  };
  return { template: { layout } };
}

function redraw(size) {
  for (const chart of charts) Plotly.relayout(chart, { ...pageTemplate(chart.data), ...size(chart) });
}

for (const script of document.querySelectorAll("script[data-chart]")) {
  const chart = document.getElementById(script.dataset.chart);
  const { data, layout } = JSON.parse(script.textContent);
  const dragmode = touch.matches ? false : "zoom"; // dragging a finger over a chart scrolls the page
  const config = { responsive: true, displayModeBar: false };
  Plotly.newPlot(chart, data, { ...layout, ...pageTemplate(data), dragmode }, config);
  charts.push(chart);
}
dark.addEventListener("change", () => redraw(() => ({})));

for (const box of document.querySelectorAll("input[data-logarithmic]")) {
  box.addEventListener("change", () => {
    const scale = box.checked ? { "yaxis.type": "log", "yaxis.dtick": 1 } : { "yaxis.type": "linear", "yaxis.dtick": null };
    Plotly.relayout(box.dataset.logarithmic, { ...scale, "yaxis.autorange": true });
  });
}

const search = document.querySelector(".search input");
search?.addEventListener("input", () => {
  const wanted = search.value.trim().toLowerCase();
  for (const list of document.querySelectorAll(".prediction-lists details")) {
    list.hidden = !list.textContent.toLowerCase().includes(wanted);
  }
});

// Charts are redrawn for white, narrow paper before the page is printed, and for the screen afterwards.
addEventListener("beforeprint", () => {
  document.documentElement.classList.add("printing");
  for (const details of document.querySelectorAll("details.numbers")) details.open = true;
  redraw((chart) => ({ autosize: false, width: chart.clientWidth, height: chart.clientHeight }));
});
addEventListener("afterprint", () => {
  document.documentElement.classList.remove("printing");
  redraw(() => ({ autosize: true, width: null, height: null }));
});

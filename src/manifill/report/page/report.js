"use strict";
// Draws the charts in the page's colours, again where these change, and filters the predictions.

const dark = matchMedia("(prefers-color-scheme: dark)");
const touch = matchMedia("(pointer: coarse)");
const charts = [];

// Fonts and colours of a chart are those of the page around it.
function look(traces) {
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
    plot_bgcolor: traces[0].type === "heatmap" ? colour("--gap") : clear, // which cells without a value show
    xaxis: axis,
    yaxis: axis,
  };
  return { template: { layout } };
}

function redraw(size) {
  for (const chart of charts) Plotly.relayout(chart, { ...look(chart.data), ...size(chart) });
}

for (const script of document.querySelectorAll("script[data-chart]")) {
  const chart = document.getElementById(script.dataset.chart);
  const { data, layout } = JSON.parse(script.textContent);
  const dragmode = touch.matches ? false : "zoom"; // a finger that moves over a chart scrolls the page
  const config = { responsive: true, displayModeBar: false };
  Plotly.newPlot(chart, data, { ...layout, ...look(data), dragmode }, config);
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
  for (const answer of document.querySelectorAll(".answers details")) {
    answer.hidden = !answer.textContent.toLowerCase().includes(wanted);
  }
});

// Paper is white and narrow: charts are drawn for it before the page is printed, and again for the screen afterwards.
addEventListener("beforeprint", () => {
  document.documentElement.classList.add("printing");
  for (const details of document.querySelectorAll("details.numbers")) details.open = true;
  redraw((chart) => ({ autosize: false, width: chart.clientWidth, height: chart.clientHeight }));
});
addEventListener("afterprint", () => {
  document.documentElement.classList.remove("printing");
  redraw(() => ({ autosize: true, width: null, height: null }));
});

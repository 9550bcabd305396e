import Chart from "chart.js/auto";

const chart = new Chart(document.getElementById("votes"), {
  type: "bar",
  data: { labels: ["Red", "Blue", "Yellow"], datasets: [{ label: "Votes", data: [12, 19, 3] }, { label: "Doubts", data: [4, 5, 6] }] },
  options: {
    animation: false,
    onClick: (_, parts) => tell("clicked", parts.map(({ index }) => chart.data.labels[index])),
    onHover: (_, parts) => tell("hovered", parts.length > 0),
    plugins: { legend: { onClick: (event, item, legend) => { Chart.defaults.plugins.legend.onClick(event, item, legend); tell("hidden", item.text); } } },
  },
});
document.getElementById("add").addEventListener("click", () => { chart.data.labels.push("Green"); chart.data.datasets[0].data.push(7); chart.update(); tell("labels", chart.data.labels.length); });

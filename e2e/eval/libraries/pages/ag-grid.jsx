import { AllCommunityModule, createGrid, ModuleRegistry } from "ag-grid-community";

ModuleRegistry.registerModules([AllCommunityModule]);
const CITIES = ["Aachen", "Bergen", "Cork", "Delft", "Essen", "Faro", "Ghent"];
const rowData = Array.from({ length: 5_000 }, (_, index) => ({
  order: `Order ${index + 1}`,
  city: CITIES[index % 7],
  total: (index * 7_919) % 10_007,
  year: 2000 + (index % 25),
  quarter: (index % 4) + 1,
  units: index % 90,
  weight: index % 55,
  boxes: index % 9,
  rating: index % 6,
}));
const columnDefs = [
  { field: "order", pinned: "left", width: 130 },
  ...["city", "total", "year", "quarter", "units", "weight", "boxes", "rating"].map((field) => ({
    field,
    width: 120,
  })),
];
const root = document.getElementById("root");
root.style.cssText = "height: 300px; width: 700px";
createGrid(root, {
  rowData,
  columnDefs,
  rowSelection: { mode: "singleRow" },
  onSelectionChanged: ({ api }) => window.done(api.getSelectedRows().map(({ order }) => order)),
});

import { DataGrid } from "@mui/x-data-grid";
import { createRoot } from "react-dom/client";

const NAMES = ["Ada", "Brook", "Cleo", "Dara", "Eli", "Fern", "Gus", "Hana", "Ivo", "June"];
const rows = Array.from({ length: 100 }, (_, index) => ({
  id: index + 1,
  name: `${NAMES[index % 10]} ${index + 1}`,
  balance: (index * 37) % 101,
}));
const columns = [
  { field: "name", headerName: "Name", width: 200 },
  { field: "balance", headerName: "Balance", type: "number", width: 150 },
];

createRoot(document.getElementById("root")).render(
  <div style={{ height: 400 }}>
    <DataGrid
      rows={rows}
      columns={columns}
      checkboxSelection
      initialState={{ pagination: { paginationModel: { pageSize: 25 } } }}
      onRowSelectionModelChange={({ ids }) => window.done([...ids])}
    />
  </div>,
);

import CheckIcon from "@mui/icons-material/Check";
import CloseIcon from "@mui/icons-material/Close";
import { Button, FormControl, InputLabel, List, ListItem, MenuItem, Select } from "@mui/material";
import { AdapterDayjs } from "@mui/x-date-pickers/AdapterDayjs";
import { DatePicker } from "@mui/x-date-pickers/DatePicker";
import { LocalizationProvider } from "@mui/x-date-pickers/LocalizationProvider";
import { useState } from "react";
import { createRoot } from "react-dom/client";

const PLANS = [
  { name: "Basic", features: { Reports: true, "Single sign-on": false } },
  { name: "Team", features: { Reports: true, "Single sign-on": true } },
];

function App() {
  const [plan, setPlan] = useState("Basic");
  const [day, setDay] = useState(null);
  return (
    <LocalizationProvider dateAdapter={AdapterDayjs}>
      <h1>Change your plan</h1>
      {PLANS.map(({ name, features }) => (
        <section key={name}>
          <h2>{name}</h2>
          <List>
            {Object.entries(features).map(([feature, isIncluded]) => (
              <ListItem key={feature}>
                {isIncluded ? <CheckIcon /> : <CloseIcon />}
                {feature}
              </ListItem>
            ))}
          </List>
        </section>
      ))}
      <FormControl sx={{ width: 200, mt: 2 }}>
        <InputLabel id="plan-label">Plan</InputLabel>
        <Select
          labelId="plan-label"
          label="Plan"
          value={plan}
          onChange={({ target }) => setPlan(target.value)}
        >
          {PLANS.map(({ name }) => (
            <MenuItem key={name} value={name}>
              {name}
            </MenuItem>
          ))}
        </Select>
      </FormControl>
      <DatePicker label="First day" value={day} onChange={setDay} sx={{ mt: 2 }} />
      <Button sx={{ mt: 2 }} onClick={() => window.done({ plan, day: day?.format("YYYY-MM-DD") })}>
        Save
      </Button>
    </LocalizationProvider>
  );
}

createRoot(document.getElementById("root")).render(<App />);

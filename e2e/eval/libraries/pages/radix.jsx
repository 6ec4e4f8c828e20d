import { Checkbox, Dialog, Select, Slider, Switch, Tabs } from "radix-ui";
import { useState } from "react";
import { createRoot } from "react-dom/client";

const FRUITS = ["Apple", "Banana", "Cherry"];
const overlay = { position: "fixed", inset: 0, background: "#0008" };
const panel = { position: "fixed", top: 80, left: 80, padding: 20, background: "#fff" };

function App() {
  const [fruit, setFruit] = useState("Apple");
  const [isLate, setLate] = useState(false);
  return (
    <>
      <h1>Order</h1>
      <Tabs.Root defaultValue="box">
        <Tabs.List>
          <Tabs.Trigger value="box">Box</Tabs.Trigger>
          <Tabs.Trigger value="bag">Bag</Tabs.Trigger>
        </Tabs.List>
        <Tabs.Content value="box">A box holds 12 pieces.</Tabs.Content>
        <Tabs.Content value="bag">A bag holds 5 pieces.</Tabs.Content>
      </Tabs.Root>
      <Select.Root value={fruit} onValueChange={setFruit}>
        <Select.Trigger aria-label="Fruit">
          <Select.Value />
          <Select.Icon />
        </Select.Trigger>
        <Select.Portal>
          <Select.Content position="popper" style={{ background: "#fff" }}>
            <Select.Viewport>
              {FRUITS.map((name) => (
                <Select.Item key={name} value={name}>
                  <Select.ItemText>{name}</Select.ItemText>
                </Select.Item>
              ))}
            </Select.Viewport>
          </Select.Content>
        </Select.Portal>
      </Select.Root>
      <label htmlFor="late">Deliver late</label>
      <Switch.Root id="late" checked={isLate} onCheckedChange={setLate} style={{ width: 40, height: 20 }}>
        <Switch.Thumb />
      </Switch.Root>
      <Checkbox.Root aria-label="Gift" defaultChecked style={{ width: 20, height: 20 }}>
        <Checkbox.Indicator>✓</Checkbox.Indicator>
      </Checkbox.Root>
      <Slider.Root
        defaultValue={[3]}
        max={10}
        style={{ position: "relative", display: "flex", width: 200, height: 20 }}
      >
        <Slider.Track style={{ flex: 1 }} />
        <Slider.Thumb
          aria-label="Pieces"
          style={{ display: "block", width: 16, height: 16, background: "#000" }}
        />
      </Slider.Root>
      <form>
        <Select.Root name="size" defaultValue="M">
          <Select.Trigger aria-label="Size">
            <Select.Value placeholder="Choose" />
          </Select.Trigger>
          <Select.Portal>
            <Select.Content>
              <Select.Viewport>
                <Select.Item value="M">
                  <Select.ItemText>Medium</Select.ItemText>
                </Select.Item>
              </Select.Viewport>
            </Select.Content>
          </Select.Portal>
        </Select.Root>
      </form>
      <Dialog.Root>
        <Dialog.Trigger>Review</Dialog.Trigger>
        <Dialog.Portal>
          <Dialog.Overlay style={overlay} />
          <Dialog.Content style={panel}>
            <Dialog.Title>Confirm the order</Dialog.Title>
            <Dialog.Description>It cannot be changed later.</Dialog.Description>
            <button type="button" onClick={() => window.done({ fruit, isLate })}>
              Order now
            </button>
            <Dialog.Close>Back</Dialog.Close>
          </Dialog.Content>
        </Dialog.Portal>
      </Dialog.Root>
    </>
  );
}

createRoot(document.getElementById("root")).render(<App />);

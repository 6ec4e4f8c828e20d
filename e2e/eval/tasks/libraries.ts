import { reported, type Task } from "../task.ts";

/** The page of a library task; `name` is a file of `e2e/eval/libraries/pages`. */
const from = (name: string) => ({
  library: name,
  page: '<link rel=stylesheet href="app.css"><div id=root></div><script src="app.js"></script>',
});

const totals = Array.from({ length: 5_000 }, (_, index) => (index * 7_919) % 10_007);
const highest = `Order ${totals.indexOf(Math.max(...totals)) + 1}`;

/** Tasks on pages of component libraries from npm. */
export const libraryTasks: Task[] = [
  {
    id: "mui-form",
    ask: "Choose the plan that includes single sign-on, with 4 May 2031 as its first day, and save.",
    ...from("mui-form"),
    isSolved: reported({ plan: "Team", day: "2031-05-04" }),
    solve: [
      `await page.getByRole("combobox", { name: "Plan" }).click();
       await page.getByRole("option", { name: "Team" }).click();
       await page.getByRole("spinbutton", { name: "Month" }).focus();
       await page.keyboard.type("05042031");
       await page.getByRole("button", { name: "Save" }).click();`,
    ],
  },
  {
    id: "mui-grid",
    ask: "Select the customer with the highest balance.",
    ...from("mui-grid"),
    isSolved: reported([31]),
    solve: [
      `const header = page.getByRole("columnheader", { name: "Balance" });
       await header.click();
       await header.click();
       await page.getByRole("row").filter({ hasText: "Ada 31" }).getByRole("checkbox").check();`,
    ],
  },
  {
    id: "ant-design",
    ask: "Make the role Owner, add Green to the tags, and save.",
    ...from("ant-design"),
    isSolved: reported({ role: "owner", tags: ["red", "blue", "green"] }),
    solve: [
      `await page.getByRole("combobox", { name: "Role" }).click();
       await page.locator(".ant-select-item-option", { hasText: "Owner" }).click();
       await page.getByRole("combobox", { name: "Tags" }).click();
       await page.locator(".ant-select-item-option", { hasText: "Green" }).click();
       await page.keyboard.press("Escape");
       await page.getByRole("button", { name: "Save" }).click();`,
    ],
  },
  {
    id: "radix",
    ask: "Order cherries, to be delivered late.",
    ...from("radix"),
    isSolved: reported({ fruit: "Cherry", isLate: true }),
    solve: [
      `await page.getByRole("combobox", { name: "Fruit" }).click();
       await page.getByRole("option", { name: "Cherry" }).click();
       await page.getByRole("switch", { name: "Deliver late" }).click();
       await page.getByRole("button", { name: "Review" }).click();
       await page.getByRole("button", { name: "Order now" }).click();`,
    ],
  },
  {
    id: "ag-grid",
    ask: "Select the order with the highest total.",
    ...from("ag-grid"),
    isSolved: reported([highest]),
    solve: [
      `const header = page.getByRole("columnheader", { name: "Total" });
       await header.click();
       await header.click();
       await page.getByRole("gridcell", { name: ${JSON.stringify(highest)}, exact: true }).waitFor();
       await page.getByRole("checkbox").first().check();`,
    ],
  },
  {
    id: "tiptap",
    ask: "The newsletter is for May, not for April, and the shop opens on Tuesday. Correct both and send it.",
    ...from("tiptap"),
    isSolved: ({ done }) =>
      done.some((value) => {
        const { subject, body } = value as { subject: string; body: string };
        return subject === "News of May" && /opens on Tuesday/.test(body) && /Bread/.test(body);
      }),
    solve: [
      `await page.getByRole("textbox", { name: "Subject" }).fill("News of May");
       await page.getByText("Monday").dblclick();
       await page.keyboard.type("Tuesday");
       await page.getByRole("button", { name: "Send" }).click();`,
    ],
  },
  {
    id: "monaco",
    ask: "A name in the code is misspelt. Correct it and run the code.",
    ...from("monaco"),
    isSolved: ({ done }) => done.some((value) => /return total;\s*\}/.test(String(value))),
    solve: [
      `await page.getByText("totl").dblclick({ position: { x: 80, y: 8 } });
       await page.keyboard.press("ControlOrMeta+A");
       await page.keyboard.insertText("function discount(total) {\\nif (total > 100) return total * 0.9;\\nreturn total;\\n}");
       await page.getByRole("button", { name: "Run" }).click();`,
    ],
  },
  {
    id: "shoelace",
    ask: "Review the office chair with 5 stars, without my name. Agree and publish.",
    ...from("shoelace"),
    isSolved: reported({ product: "chair", stars: 5, isNamed: false, isAgreed: true }),
    solve: [
      `await page.getByRole("combobox", { name: "Product" }).click();
       await page.getByRole("option", { name: "Office chair" }).click();
       await page.getByRole("slider", { name: "Stars" }).press("End");
       await page.locator("sl-switch").click();
       await page.locator("sl-checkbox").click();
       await page.getByRole("button", { name: "Publish" }).click();`,
    ],
  },
  {
    id: "dnd-kit",
    ask: "Move the step Publish to the top.",
    ...from("dnd-kit"),
    isSolved: reported(["Publish", "Write", "Review"]),
    solve: [
      `const box = async (name) => page.getByRole("button", { name }).boundingBox();
       const [from, to] = [await box("Publish"), await box("Write")];
       await page.mouse.move(from.x + 50, from.y + 20);
       await page.mouse.down();
       await page.mouse.move(to.x + 50, to.y + 30, { steps: 10 });
       await page.mouse.move(to.x + 50, to.y + 10, { steps: 5 });
       await page.mouse.up();`,
    ],
  },
  {
    id: "fullcalendar",
    ask: "Open the event that is in June 2031.",
    ...from("fullcalendar"),
    isSolved: reported("Launch"),
    solve: [
      `await page.getByRole("button", { name: "Next month" }).click();
       await page.getByText("Launch").click();`,
    ],
  },
];

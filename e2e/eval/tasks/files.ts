import { reported, says, type Task } from "../task.ts";

const write = (path: string, content: string) => ({ name: "write_file", arguments: { path, content } });

/** Tasks whose work is in the workspace: tests and landing pages. */
export const filesTasks: Task[] = [
  {
    id: "playwright-test",
    ask: "Write a Playwright test that adds two lamps to the basket and checks the number that the basket shows. Run it, and tell me whether it passed.",
    page: `<h1>Lamps</h1><button onclick="n++; out.textContent = n; if (n === 2) done('two lamps')">Add to basket</button><p>Basket: <output id=out>0</output></p><script>let n = 0;</script>`,
    isSolved: (outcome) => reported("two lamps")(outcome) && says(/\bpassed\b/i)(outcome),
    solve: [
      // The address of the page is known to the browser only.
      "return 'address ' + page.url();",
      (results) =>
        write(
          "tests/basket.spec.ts",
          `import { expect, test } from "@playwright/test";
test("the basket counts lamps", async ({ page }) => {
  await page.goto(${JSON.stringify(/address (http:\S+?\/playwright-test\/)/.exec(results.at(-1) ?? "")?.[1] ?? "")});
  for (let n = 0; n < 2; n++) await page.getByRole("button", { name: "Add to basket" }).click();
  await expect(page.getByRole("status")).toHaveText("2");
});
`,
        ),
      { name: "run_tests", arguments: { files: ["tests/basket.spec.ts"], against: "control" } },
      { name: "wait_for_test_results", arguments: {} },
    ],
    answer: (results) => /1 passed/.exec(results.at(-1) ?? "")?.[0] ?? "It did not pass.",
  },
  {
    id: "landing-page",
    ask: "Publish a landing page that says 'Opens on 5 May', and tell me its address.",
    page: "<h1>Our new shop</h1>",
    isSolved: says(/https?:\/\/\S+\/p\/[\w-]+/),
    solve: [
      write("site/index.html", "<!doctype html><title>Our new shop</title><h1>Opens on 5 May</h1>"),
      { name: "deploy_landing_page", arguments: { folder: "site" } },
    ],
    answer: (results) => /https?:\/\/[^\s"]+\/p\/[\w-]+/.exec(results.at(-1) ?? "")?.[0] ?? "",
  },
];

import { readPackageFile } from "../build-app.ts";
import { type MatrixApp, renderShop } from "../matrix-app.ts";
import { serveWith } from "../serve-app.ts";

const LATE = `<div hx-get="/late" hx-trigger="load delay:100ms" hx-swap="outerHTML"></div>`;

function render(count: number, thanks = ""): string {
  return renderShop(count, {
    again: `hx-get="/again?count=${count + 1}" hx-target="main" hx-swap="outerHTML"`,
    form: `hx-post="/submit?count=${count}" hx-target="main" hx-swap="outerHTML"`,
    late: LATE,
    thanks,
  });
}

const toDocument = (body: string) =>
  `<!doctype html><html><head><title>Shop</title><meta name="htmx-config" content='{"includeIndicatorStyles":false}'><script src="/htmx.js"></script></head><body hx-boost="true">${body}</body></html>`;

/** Links are boosted, and Back restores the page from htmx's history cache. */
export const htmx: MatrixApp = {
  name: "htmx (boost)",
  build: "the package's script, HTML from a server",
  shown: ["htmx.org"],
  packages: { "htmx.org": "2.0.11" },
  files: {},
  async start(folder) {
    const script = await readPackageFile(folder, "htmx.org/dist/htmx.min.js");
    return serveWith(({ path, search, form }) => {
      const count = Number(search.get("count") ?? 1);
      if (path === "/htmx.js") return { body: script, type: "text/javascript" };
      if (path === "/") return toDocument(render(1));
      if (path === "/again") return render(count);
      if (path === "/submit") return render(count, `Thanks ${form.get("name")}`);
      if (path === "/late") return `<p class="late">Late</p>`;
      if (path === "/other") return toDocument(`<h1>Other</h1><a href="/">Back</a>`);
      return undefined;
    });
  },
};

import { readPackageFile } from "../build-app.ts";
import { type MatrixApp, renderShop } from "../matrix-app.ts";
import { serveWith } from "../serve-app.ts";

const LATE = `<turbo-frame id="late" src="/late"></turbo-frame>`;

function render(count: number, thanks = ""): string {
  return renderShop(count, {
    again: `form="again-form" formaction="/again?count=${count + 1}"`,
    form: `method="post" action="/submit?count=${count}"`,
    late: LATE,
    thanks,
  }).replace(`type="button" form`, `type="submit" form`);
}

const stream = (count: number, thanks?: string) => ({
  body: `<turbo-stream action="replace" targets="main"><template>${render(count, thanks)}</template></turbo-stream>`,
  type: "text/vnd.turbo-stream.html",
});

/** Turbo Drive with its snapshots, a frame for the late element, and streams for what is rendered again. */
export const turbo: MatrixApp = {
  name: "Turbo",
  build: "the package's script, HTML from a server",
  shown: ["@hotwired/turbo"],
  packages: { "@hotwired/turbo": "8.0.23" },
  files: {},
  async start(folder) {
    const script = await readPackageFile(folder, "@hotwired/turbo/dist/turbo.es2017-umd.js");
    return serveWith(({ path, search, form }) => {
      const count = Number(search.get("count") ?? 1);
      const toDocument = (body: string) =>
        `<!doctype html><html><head><title>Shop</title><script src="/turbo.js"></script></head><body>${body}</body></html>`;
      const again = `<form id="again-form" method="post" action="/again"></form>`;
      if (path === "/turbo.js") return { body: script, type: "text/javascript" };
      if (path === "/") return toDocument(render(1) + again);
      if (path === "/again") return stream(count);
      if (path === "/submit") return stream(count, `Thanks ${form.get("name")}`);
      if (path === "/late") return `<turbo-frame id="late"><p class="late">Late</p></turbo-frame>`;
      if (path === "/other") return toDocument(`<h1>Other</h1><a href="/">Back</a>`);
      return undefined;
    });
  },
};

import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { MatrixApp } from "../matrix-app.ts";
import { serveWith } from "../serve-app.ts";
import { jsxShop } from "./jsx-shop.ts";

const page = (body: string, script = "") => `---
import { ClientRouter } from "astro:transitions";
${script}
---
<html lang="en"><head><title>Shop</title><ClientRouter fallback="none" /></head><body>${body}</body></html>`;

/** Astro's own static build with its client-side router. The shop is an island in Preact. */
export const astro: MatrixApp = {
  name: "Astro (ClientRouter)",
  build: "`astro build`, island in Preact",
  shown: ["astro", "preact"],
  packages: { astro: "7.3.5", "@astrojs/preact": "6.0.5", preact: "10.27.0" },
  files: {
    "astro.config.mjs": `import preact from "@astrojs/preact"; export default { integrations: [preact()], devToolbar: { enabled: false } };`,
    "tsconfig.json": `{ "compilerOptions": { "jsx": "react-jsx", "jsxImportSource": "preact" } }`,
    "src/shop.jsx": `import { useEffect, useState } from "preact/hooks";\n${jsxShop(`<a id="leave" href="/other">Other</a>`)}\nexport default Shop;`,
    "src/pages/index.astro": page("<Shop client:load />", `import Shop from "../shop.jsx";`),
    "src/pages/other.astro": page(`<h1>Other</h1><a href="/">Back</a>`),
  },
  commands: [["node_modules/astro/bin/astro.mjs", "build"]],
  start: (folder) =>
    serveWith(async ({ path }) => {
      const isScript = path.endsWith(".js");
      if (path === "/favicon.ico") return undefined;
      const file = isScript ? path : `${path.replace(/\/$/, "")}/index.html`;
      const body = await readFile(join(folder, "dist", file), "utf8");
      return { body, type: isScript ? "text/javascript" : "text/html" };
    }),
};

import type { MatrixApp } from "../matrix-app.ts";
import { serveByProgram } from "../serve-app.ts";
import { jsxShop } from "./jsx-shop.ts";

const next = "node_modules/next/dist/bin/next";

/** The App Router of Next.js with its client-side links. The whole document is hydrated. */
export const nextApp: MatrixApp = {
  name: "React (Next)",
  build: "`next build`, App Router",
  shown: ["next", "react"],
  packages: { next: "16.4.6", react: "19.3.1", "react-dom": "19.3.1" },
  files: {
    "next.config.mjs": "export default { turbopack: { root: import.meta.dirname }, poweredByHeader: false };",
    "app/layout.jsx": `export const metadata = { title: "Shop", icons: { icon: "data:," } };
export default function Layout({ children }) { return <html lang="en"><body>{children}</body></html>; }`,
    "app/shop.jsx": `"use client";
import { useEffect, useState } from "react";
import Link from "next/link";
${jsxShop(`<Link id="leave" href="/other">Other</Link>`)}
export default Shop;`,
    "app/page.jsx": `import Shop from "./shop";
export const dynamic = "force-dynamic";
export default function Page() { return <Shop />; }`,
    "app/other/page.jsx": `import Link from "next/link";
export default function Page() { return <><h1>Other</h1><Link href="/">Back</Link></>; }`,
  },
  commands: [[next, "build"]],
  start: (folder) => serveByProgram(folder, [next, "start", "--hostname", "127.0.0.1"]),
};

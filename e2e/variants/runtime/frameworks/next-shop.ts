import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, mkdtemp, realpath, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { findFreePort } from "#e2e/fixtures/service.ts";
import { FIRST_STATE } from "./framework.ts";
import { REACT_SHOP } from "./react-shop.ts";

/**
 * The files of a Next.js app with the App Router. The app has the shop as a client component, streamed content, and a
 * link to a second page.
 */
const FILES: Record<string, string> = {
  "package.json": '{ "private": true }',
  // The root is `/`, because `node_modules` is a link to a folder outside the app's folder.
  "next.config.mjs": 'export default { turbopack: { root: "/" } };',
  "app/layout.jsx":
    "export default function Layout({ children }) { return <html lang='en'><body>{children}</body></html>; }",
  "app/shop.jsx": `"use client";
    import { useEffect } from "react";
    import { flushSync } from "react-dom";
    ${REACT_SHOP}
    export function ShopClient() {
      const [isMounted, setMounted] = useState(true);
      let show;
      useEffect(() => {
        window.shop = { show: (state) => flushSync(() => show(state)), unmount: () => flushSync(() => setMounted(false)) };
      }, []);
      return isMounted && <Shop first={${JSON.stringify(FIRST_STATE)}} onShow={(set) => { show = set; }} />;
    }`,
  "app/page.jsx": `
    import Link from "next/link";
    import { ShopClient } from "./shop";
    export const dynamic = "force-dynamic";
    async function Slow() { await new Promise((done) => setTimeout(done, 200)); return <section className="slow"><h2>Slow</h2></section>; }
    export default function Page() {
      return <><div id="root"><ShopClient /></div><Link href="/other">Other</Link><Suspense fallback={<p>Loading</p>}><Slow /></Suspense></>;
    }`.replace("import Link", 'import { Suspense } from "react";\n    import Link'),
  "app/other/page.jsx": `
    import Link from "next/link";
    export default function Page() { return <><h1>Other</h1><Link href="/">Back</Link></>; }`,
};

const next = "node_modules/next/dist/bin/next";

function runNext(folder: string, args: string[]): ChildProcess {
  const env = { ...process.env, NODE_ENV: "production" as const, NEXT_TELEMETRY_DISABLED: "1" };
  return spawn(process.execPath, [next, ...args], { cwd: folder, env, stdio: ["ignore", "pipe", "inherit"] });
}

/** Builds the shop with Next.js, and starts a server for it. */
export async function startNextShop(): Promise<{ url: string; close: () => Promise<void> }> {
  const folder = await mkdtemp(join(tmpdir(), "next-shop-"));
  const packages = await realpath(resolve(import.meta.dirname, "../../../../node_modules"));
  await symlink(packages, join(folder, "node_modules"));
  for (const [path, text] of Object.entries(FILES)) {
    await mkdir(dirname(join(folder, path)), { recursive: true });
    await writeFile(join(folder, path), text);
  }
  const build = runNext(folder, ["build"]);
  build.stdout?.resume();
  const [exitCode] = await once(build, "exit");
  if (exitCode !== 0) throw new Error("next build failed");
  const port = await findFreePort();
  const server = runNext(folder, ["start", "--hostname", "127.0.0.1", "--port", String(port)]);
  let output = "";
  for await (const chunk of server.stdout ?? []) {
    output += chunk;
    if (output.includes("Ready")) break;
  }
  return {
    url: `http://127.0.0.1:${port}/`,
    async close() {
      const hasEnded = once(server, "exit");
      server.kill();
      await hasEnded;
      await rm(folder, { recursive: true, force: true });
    },
  };
}

import { type BuildMode, bundleForPage, loadOnServer } from "./framework.ts";

const PAGE = `
import { Suspense, use, useState } from "react";
function Slow({ data }) { const value = use(data); const [count, setCount] = useState(1);
  return <section className="slow"><b onClick={() => setCount(count + 1)}>{value} {count}</b></section>; }
export function Page({ data }) {
  return <html><head><title>Stream</title></head><body><h1>Stream</h1>
    <Suspense fallback={<p className="fallback">Loading</p>}><Slow data={data} /></Suspense><footer>End</footer></body></html>;
}`;

const SERVER = `${PAGE}
import { renderToReadableStream } from "react-dom/server.edge";
export async function render() {
  const { promise, resolve } = Promise.withResolvers();
  const stream = await renderToReadableStream(<Page data={promise} />, { bootstrapModules: ["/stream-client.js"] });
  const parts = ["", ""];
  const decoder = new TextDecoder();
  const reader = stream.getReader();
  parts[0] += decoder.decode((await reader.read()).value);
  resolve("slow");
  for (let chunk = await reader.read(); !chunk.done; chunk = await reader.read()) parts[1] += decoder.decode(chunk.value);
  return parts;
}`;

const CLIENT = `${PAGE}
import { hydrateRoot } from "react-dom/client";
const data = new Promise((resolve) => { window.resolveData = () => resolve("slow"); });
hydrateRoot(document, <Page data={data} />, { onRecoverableError: (error) => console.error("recoverable: " + error) });
window.isStarted = true;`;

/** Builds a document that React streams: first the shell, then the content of a Suspense boundary. */
export async function buildReactStream(
  mode: BuildMode,
): Promise<{ shell: string; rest: string; client: string }> {
  const { render } = await loadOnServer(SERVER, mode);
  if (typeof render !== "function") throw new Error("the module has no render");
  const parts: unknown = await render();
  if (!Array.isArray(parts)) throw new Error("the stream has no parts");
  return { shell: String(parts[0]), rest: String(parts[1]), client: await bundleForPage(CLIENT, mode) };
}

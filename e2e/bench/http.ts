import { Agent, type IncomingMessage, request } from "node:http";

const createAgent = () => new Agent({ keepAlive: true, maxSockets: Number.POSITIVE_INFINITY });
let agent = createAgent();
const TIMEOUT_MS = 120_000;

/** Closes all connections, so that the requests of an aborted measurement do not continue during the next one. */
export function dropConnections(): void {
  agent.destroy();
  agent = createAgent();
}

/** Sends a request to loopback. Uses `node:http`, because it needs less CPU time than `fetch`. */
function send(
  method: string,
  url: string,
  headers: Record<string, string>,
  body: string | undefined,
): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const length = body === undefined ? {} : { "content-length": String(Buffer.byteLength(body)) };
    const call = request(url, { method, agent, headers: { ...headers, ...length } }, resolve);
    call.setTimeout(TIMEOUT_MS, () => call.destroy(new Error(`${url} did not answer`)));
    call.on("error", (error: NodeJS.ErrnoException) => {
      // Retries, as Node's documentation recommends: the server may close an idle connection when a request reuses it.
      if (call.reusedSocket && error.code === "ECONNRESET") resolve(send(method, url, headers, body));
      else reject(error);
    });
    call.end(body);
  });
}

/** Sends a request with an optional JSON body, and reads the response. @throws Error if the status is 400 or above. */
export async function callJson(
  method: string,
  url: string,
  headers: Record<string, string>,
  body?: unknown,
): Promise<unknown> {
  const sent = body === undefined ? undefined : JSON.stringify(body);
  const type = sent === undefined ? {} : { "content-type": "application/json" };
  const response = await send(method, url, { ...headers, ...type }, sent);
  let text = "";
  for await (const chunk of response.setEncoding("utf8")) text += chunk;
  if ((response.statusCode ?? 500) >= 400)
    throw new Error(`${method} ${url}: ${response.statusCode} ${text}`);
  return text === "" ? undefined : JSON.parse(text);
}

/** Reads a stream to its end. `onChunk` receives each chunk and the time of its arrival (`performance.now()`). */
export async function followStream(
  url: string,
  headers: Record<string, string>,
  onChunk: (text: string, atMs: number) => void,
): Promise<void> {
  const response = await send("GET", url, headers, undefined);
  if (response.statusCode !== 200) throw new Error(`GET ${url}: ${response.statusCode}`);
  await new Promise<void>((resolve, reject) => {
    response.setEncoding("utf8");
    response.on("data", (chunk: string) => onChunk(chunk, performance.now()));
    response.once("end", resolve);
    response.once("error", reject);
  });
}
